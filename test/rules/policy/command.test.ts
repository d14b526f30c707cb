/**
 * The built-in verdict on command lines: which run without approval, and which ask although their
 * name is listed.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DEFAULT_POLICY } from '../../../src/domain/policy.js';
import { judgeLine } from '../../../src/rules/policy/verdict.js';
import { parseBash } from '../../../src/text/bash/parse.js';

const HERE = { policy: DEFAULT_POLICY, parse: parseBash, home: '/home/ana', cwd: '/srv/ws/workspaces/dev' };

function verdict(line: string): string {
  return judgeLine(line, HERE).verdict;
}

function all(expected: string, text: string): void {
  const wrong = text
    .trim()
    .split('\n')
    .filter((line) => verdict(line) !== expected)
    .map((line) => `${verdict(line)}\t${line}`);
  assert.deepEqual(wrong, []);
}

test('only blanks, tabs and newlines separate words, and every separator separates commands', () => {
  for (const sign of [';', '&', '&&', '||', '|', '|&', '\n', ' ; ', '\t&&\t', '\n\n']) {
    assert.equal(verdict(`ls${sign}pwd`), 'auto', JSON.stringify(sign));
    assert.equal(verdict(`ls${sign}touch x`), 'ask', JSON.stringify(sign));
    assert.equal(verdict(`touch x${sign}ls`), 'ask', JSON.stringify(sign));
    assert.equal(verdict(`ls${sign}sudo x`), 'deny', JSON.stringify(sign));
  }
  for (const sign of ['\r', '\v', '\f', '\u00a0', '\u2003', '\u2028', '\u0085', '\u3000']) {
    assert.equal(verdict(`ls${sign}-la`), 'ask', JSON.stringify(sign));
    assert.equal(verdict(`ls ${sign} pwd`), 'ask', JSON.stringify(sign));
  }
});

test('harmless redirections and pipes around a listed command are auto', () => {
  all(
    'auto',
    String.raw`
ls >/dev/null
ls > /dev/null
ls 1>/dev/null
ls 2>/dev/null
ls 2> /dev/null
ls &>/dev/null
ls &> /dev/null
ls >&/dev/null
ls 2>&1
ls 1>&2
ls >&2
ls >/dev/null 2>&1
ls 2>&1 | grep x
>/dev/null ls
2>/dev/null ls -la
ls >"/dev/null"
cat <file
cat < ./dir/file
cat 0<file
wc -l <'a b'
ls # comment
ls;# comment
ls # rm -rf x; sudo
git --no-pager status
git -P diff
git --no-pager -P log
`,
  );
  assert.equal(verdict('# first\n\nls\n# last'), 'auto');
  assert.equal(verdict('  \t ls \t -la \t '), 'auto');
  assert.equal(verdict('ls \\\n -la'), 'auto');
  assert.equal(verdict('ls |\n wc -l'), 'auto');
  assert.equal(verdict('ls &&\n\n# why\npwd'), 'auto');
});

test('any other redirection is not auto', () => {
  all(
    'ask',
    String.raw`
ls > out
ls >> out
ls >| out
ls &> out
ls &>> out
ls >& out
ls 2> out
ls 2>> out
ls <> out
ls >>/dev/null
ls >|/dev/null
ls 3>/dev/null
ls 3>&1
ls 2>&3
ls 2>&-
ls <&0
ls <&3
ls 1>&2-
ls {fd}>/dev/null
ls > /dev/tcp/1.2.3.4/80
ls > /dev/stdout
ls >/dev/./null
ls >/dev/null/../sda
ls >/tmp/x
ls >$x
ls >"$x"
ls > /dev/nul?
ls > ~/x
ls > tasks/approvals.task.md
echo x > ../../storage/terminal-cmd-allowlist.yaml
echo x >> ../../agents/a.md
cat << EOF
cat <<< x
cat < /dev/null
cat < /dev/sda
cat < /dev/tcp/1.2.3.4/80
cat < ~/.ssh/id_rsa
cat < .env
cat < $x
cat < <(ls)
ls > >(cat)
> out
>/dev/null
`,
  );
});

test('an option that runs, writes or reads something else is not auto', () => {
  all(
    'ask',
    String.raw`
find . -exec ls \;
find . -exec ls {} +
find . -execdir ls \;
find . -ok ls \;
find . -okdir ls \;
find . -delete
find . -name x -delete
find . -type f -delete -print
find . -name -delete -delete
find . -maxdepth -delete
find . -fprint out
find . -fprint0 out
find . -fprintf out %p
find . -fls out
find . "-delete"
find . -del\ete
find . '-exec' ls ';'
find -delete
find . \( -name x -delete \)
find . ! -name x -o -delete
find . -unknown
find . -files0-from x
git -c core.pager=x log
git -c alias.log=!x log
git -C /other status
git -C ../x log
git --config-env=core.pager=X log
git --exec-path=/tmp log
git --exec-path status
git --git-dir=/x status
git --git-dir /x status
git --work-tree=/x status
git --namespace=x log
git --bare log
git -p log
git --paginate log
git --no-pager -c x=y log
git --literal-pathspecs log
git log --output=out
git log --output out
git diff --output=out
git diff --outp=out
git diff --ou=out
git diff -o out
git diff --ext-diff
git diff --ext
git log --ext-diff -p
git diff --textconv
git log --textconv
git log --show-signature
git log --show-sig
git log --format=%G?
git log --pretty=format:%GS
git log --pretty '%GK'
git diff --no-index a b
git log --exec=x
git log --stdin
git log --unknown
git log -o
git status --unknown
git status --output=x
git show
git branch
git push
git fetch
git stash list
git config -l
git
git statu
git log; git push
docker -H tcp://x ps
docker --host=x ps
docker --context x ps
docker --config /x ps
docker -D ps
docker run x
docker
docker container ls
docker ps -x
docker ps x
docker ps --unknown
docker ps --form x
docker exec c ls
podman --remote ps
podman --url x ps
podman --log-level=debug ps
podman rm x
podman ps --sync
date -s 2020-01-01
date --set=2020-01-01
date --set 2020-01-01
date --se=2020-01-01
date --s 2020-01-01
date -us 2020-01-01
date -us2020-01-01
date -Rs x
date 010100002020
date 0101
date -u 01010000
date -- 01010000
date --unknown
ps e
ps auxe
ps axe
ps eww
ps -auxe
ps -ex
ps -aex
ps -e x
ps -eo pid,environ
ps -o env
ps axo environ
ps --unknown
grep -f ~/.ssh/id_rsa x
grep --file=.env x
grep -f.env x
wc --files0-from=.env
date -f /etc/shadow
date --file=.env
date -r ~/.ssh/id_rsa
ls --unknown
cat --unknown x
cat -x f
head --unknown f
head -k f
wc -k f
pwd -x
`,
  );
});

test('a run-time word, an assignment, a path or a similar name is not auto', () => {
  all(
    'ask',
    String.raw`
ls $x
ls "$x"
ls \${x}
ls "\${x:-y}"
ls $1
ls $@
ls "$*"
ls $?
ls $$
ls $-
ls $((1+1))
ls $[1+1]
ls $(pwd)
ls "$(pwd)"
ls ${'`'}pwd${'`'}
ls <(pwd)
ls >(pwd)
ls {a,b}
ls a{1..3}
ls {a,b}{c,d}
ls "x"{a,b}
ls x{,}
ls $'a'
ls $"a"
ls *.ts
ls ?.ts
ls [ab].ts
find . -name *.ts
ls ~bob
ls ~+
ls ~-
ls a=~
ls a=b:~
echo $HOME
$x
$x -la
"$x"
l$x
FOO=1 ls
FOO= ls
PAGER=x git log
GIT_DIR=/x git log
GIT_EXTERNAL_DIFF=x git diff
LS_COLORS=x ls
PATH=/tmp ls
A=1 B=2 ls
IFS=x ls
FOO=1
/bin/ls
./ls
/usr/bin/git status
bin/ls
../ls
~/ls
lsof
lsblk
cat2
catx x
psql
grepx
egrep x y
headx
wcx
pwdx 1
echox
dates
findmnt
find2
gitk
git-log
docker-compose ps
dockerps
LS
Ls -la
'ls' -la
"ls"
l\s
\ls
l""s
ls.exe
env ls
command ls
builtin echo x
exec ls
nohup ls
nice ls
time ls
timeout 5 ls
xargs ls
ls | xargs cat
bash -c ls
sh -c 'ls'
eval ls
(ls)
{ ls; }
! ls
if ls; then pwd; fi
for i in a; do ls; done
while ls; do pwd; done
case a in a) ls;; esac
f() { ls; }
function f { ls; }
coproc ls
[[ -f x ]]
[ -f x ]
test -f x
((1+1))
let x=1
cd x
cd x && ls
export X=1
export PAGER=x; git log
alias ls=rm
unset x
set -x
source x
. x
exit
true
:
read x
printf x
touch x
mkdir x
cp a b
mv a b
tee x
sed -n 1p x
awk '{print}' x
sort x
tail x
tail -f x
less x
man ls
rg foo
tree
stat x
file x
du -sh
df -h
which ls
env
printenv
id
whoami
uname -a
curl x
ping x
npm test
node x.js
python3 x.py
make
ls | tee x
ls; touch x
ls && rm x
ls | sort
ls |& tee x
`.replaceAll('\\${', '${'),
  );
});

test('a secret operand asks in every spelling', () => {
  all(
    'ask',
    String.raw`
cat ~/.ssh/id_rsa
cat ~/.ssh/config
ls ~/.ssh
ls -la ~/.ssh/
find ~/.ssh
find ~/.ssh -type f
grep -r . ~/.ssh
grep x ~/.aws/credentials
cat ~/.aws/credentials
cat /home/ana/.ssh/id_rsa
cat /home/bob/.ssh/id_rsa
cat /root/.ssh/id_rsa
cat ~/.netrc
cat ~/.npmrc
cat ~/.docker/config.json
cat ~/.config/gh/hosts.yml
cat ~//.ssh//id_rsa
cat ~/./.ssh/id_rsa
cat ~/x/../.ssh/id_rsa
cat "/home/ana/.ssh/id_rsa"
cat '/home/ana/.ss'h/id_rsa
cat ../../../../home/ana/.ssh/id_rsa
cat .env
cat ./.env
cat .//.env
cat x/../.env
cat app/.env
cat ../.env
cat .ENV
cat .Env
cat ".env"
cat .e'n'v
cat .en\v
cat .env.local
cat .env.production
head .env
head -n 5 .env
head -5 config/.env
wc -l .env
grep KEY .env
grep -i key -- .env
grep -e KEY .env
grep -r KEY --include=.env .
grep -r KEY --include='.e*' .
grep -rh '' --include '*env' .
cat < .env
cat a .env b
cat secrets/key
cat ./secrets/key.json
cat config/secrets/prod
cat SECRETS/key
ls secrets
find secrets
grep -r x secrets/
cat /etc/shadow
cat /etc//shadow
cat /etc/./shadow
cat /etc/../etc/shadow
cat //etc/shadow
cat /ETC/shadow
cat /etc/shadow-
cat /etc/gshadow
head -1 /etc/shadow
cat ../../../../../../etc/shadow
cat /proc/self/environ
cat /proc/1/environ
cat /proc/self/task/1/environ
cat /proc/thread-self/environ
cat /proc/self/cwd/.env
cat /proc/self/root/etc/shadow
cat /proc/self/mem
grep -a . /proc/1/environ
cat /dev/sda
cat /dev/zero
cat /dev/random
head -c 10 /dev/urandom
cat /dev/tty
cat /dev/stdin
cat /dev/fd/3
cat /dev/tcp/1.2.3.4/80
head /dev/../dev/sda
cat sessions/boss.session.yaml
cat ../../sessions/boss.session.yaml
cat boss.session.yaml
grep -r x ../../sessions
head /srv/ws/sessions/a.session.yaml
cat .guild/runs/1
cat ../../.guild/x
git diff .env
git diff HEAD -- .env
git log -p -- .env
git log -p .env
git diff HEAD:.env
git diff HEAD:config/.env
git log -L1,5:.env
git log -p -- ':(top).env'
git log -p -- ':/.env'
find . -newer .env
find . -samefile ~/.ssh/id_rsa
ls /dev/disk
echo ~/.ssh/id_rsa
grep -r KEY ~
grep -r KEY /
grep -R KEY /home
grep -r KEY /home/bob
grep -r KEY /etc
grep -rn KEY /proc
grep -d recurse KEY ~
grep --directories=recurse KEY /root
grep --recursive KEY ~/
grep -r KEY ../..
`,
  );
  all(
    'auto',
    String.raw`
cat environment.md
cat env
cat src/env.ts
cat secrets.md
cat my-secrets-list.txt
cat /etc/passwd
cat /etc/hostname
ls /dev
cat docs/ssh.md
cat .npmignore
cat src/sessions.ts
ls sessions
grep -r KEY ~/project
cat devices/x
cat proc/x
cat /proc/loadavg
cat /proc/1/status
grep .env .gitignore
`,
  );
});

test('a line that cannot be parsed or contains strange characters asks', () => {
  all(
    'ask',
    String.raw`
ls "
ls '
ls (
ls )
ls $(
ls ${'`'}
ls \${
ls &&
ls |
| ls
; ls
ls ;; pwd
ls &; pwd
if ls
`.replaceAll('\\${', '${'),
  );
  assert.equal(verdict(''), 'ask');
  assert.equal(verdict('   '), 'ask');
  assert.equal(verdict('# nothing'), 'ask');
  for (const c of [
    '\u0000',
    '\u0007',
    '\u001b',
    '\u007f',
    '\u009b',
    '\r',
    '\u00ad',
    '\u200b',
    '\u200d',
    '\u200e',
    '\u202e',
    '\u2066',
    '\ufeff',
    '\u{e0041}',
    '\ud800',
    '\u115f',
    '\u3164',
  ]) {
    for (const line of [`ls ${c}`, `ls${c}`, `${c}ls`, `echo "a${c}b"`, `echo 'a${c}b'`, `ls # ${c}`]) {
      assert.equal(verdict(line), 'ask', JSON.stringify(line));
    }
  }
  for (const line of [
    'ls é',
    'ls d\\é',
    'cat ﬁle',
    'ls # é',
    'ls –la',
    'ｌｓ',
    'lѕ',
    'echo “hi”',
    'ls；pwd',
    'ls ｜ wc',
  ]) {
    assert.equal(verdict(line), 'ask', line);
  }
  for (const line of [
    "echo 'é'",
    'echo "日本語"',
    "grep 'naïve' file",
    "echo '⚠️ careful'",
    "cat 'ünï.txt'",
    "echo '#é'",
    "echo 'é' # plain",
  ]) {
    assert.equal(verdict(line), 'auto', line);
  }
});

test('a compound line gets the strictest verdict of its parts at any length', () => {
  const many = 'ls -la && '.repeat(300);
  assert.equal(verdict(`${many}pwd`), 'auto');
  assert.equal(verdict(`${many}touch x`), 'ask');
  assert.equal(verdict(`${many}reboot`), 'deny');
  assert.equal(verdict(`touch x; ${many}reboot`), 'deny');
  assert.equal(verdict(`reboot; ${many}touch x`), 'deny');
});

test('hostile nesting and length are judged in time and never auto', () => {
  for (const line of [
    '('.repeat(5000),
    '$('.repeat(5000),
    `${'$('.repeat(2000)}ls${')'.repeat(2000)}`,
    `${'( '.repeat(2000)}ls${' )'.repeat(2000)}`,
    '`'.repeat(5001),
    '"'.repeat(5001),
    '{'.repeat(5000),
    'if '.repeat(2000),
    '${'.repeat(4000),
    '$(('.repeat(3000),
    '[['.repeat(3000),
    'a{b,'.repeat(2000),
    '<'.repeat(5000),
    '<<a '.repeat(2000),
    '!'.repeat(5000),
    'ls '.repeat(100_000),
  ]) {
    assert.notEqual(verdict(line), 'auto', line.slice(0, 20));
  }
  assert.equal(verdict(`echo ${'x '.repeat(4000)}`), 'auto');
});
