/** The everyday lines with which people and models look around run without approval. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DEFAULT_POLICY } from '../../../src/domain/policy.js';
import { judgeLine } from '../../../src/rules/policy/verdict.js';
import { parseBash } from '../../../src/text/bash/parse.js';

const EVERYDAY = String.raw`
ls
ls -la
ls -lahtr
ls -1
ls -l src test
ls -R docs
ls --color=never -la
ls --sort=time -l
ls -la --time-style=long-iso
ls --group-directories-first
ls -d .
ls -lh /var/log
ls -la ~/projects
ls ~
ls "my folder"
ls 'a b' c\ d
ls -I node_modules
ls --ignore=dist --ignore node_modules
ls -la /tmp
ls ../other
ls -ltr | head -20
ls -la 2>/dev/null
ls nope 2>&1
ls >/dev/null 2>&1
ls -la; pwd
ls && git status
ls -l || echo missing
cat README.md
cat -n src/index.ts
cat package.json tsconfig.json
cat -A file.txt
cat ./src/app/main.ts
cat ../notes.txt
cat /etc/hosts
cat /etc/os-release
cat /proc/cpuinfo
cat /proc/meminfo
cat < input.txt
cat "file with spaces.txt"
cat package.json | grep version
cat src/a.ts | head -50
cat log.txt | grep -i error | wc -l
cat a.txt | grep -v '^#' | head
cat --number file.txt
ps
ps aux
ps -ef
ps -e
ps auxf
ps auxww
ps -aux
ps -p 1234
ps -p 1234 -o pid,ppid,cmd
ps -eo pid,ppid,%cpu,%mem,cmd --sort=-%cpu
ps aux --sort=-%mem
ps aux | grep node
ps aux | grep -v grep | grep python | wc -l
ps -ef | head -5
ps axo pid,comm
ps ax
ps -u root
ps -C node
ps --forest
ps -eLf
ps -fp 1
grep foo file.txt
grep -r TODO src
grep -rn "import" src/
grep -rniE "error|warn" logs/
grep -rl 'useState' src
grep -c '^a' words.txt
grep -v "^#" config.ini
grep -A 3 -B 2 main src/main.c
grep -A3 main src/main.c
grep -C5 'panic' log.txt
grep -5 panic log.txt
grep --include='*.ts' -r foo .
grep -r foo --include="*.ts" --exclude-dir=node_modules .
grep -rn --color=never "export function" src
grep -E '^[0-9]+$' nums
grep -oP '(?<=v)\d+' file
grep -e foo -e bar file
grep -F 'a.b' file
grep -q foo file && echo yes
grep -q foo file || echo no
grep -w main *.c.txt
grep "foo$" file
grep -E "foo$|bar$" file
grep -x 'exact' file
grep -m 1 name package.json
grep -L license -r src
grep -h foo a b
grep -i 'secrets' README.md
grep -r secrets docs
grep -rn 'process.env' src
grep --context=2 foo file
grep --max-count 3 foo file
grep -rIn password .
grep -- -x file
grep 'é' file
head file.txt
head -n 20 file.txt
head -n20 file.txt
head -20 file.txt
head -c 100 file.bin
head --lines=5 file
head -n -5 file
head -q -n 3 a b
head -1 VERSION
wc -l file
wc -w a b c
wc -c < file
wc -lc file
wc --lines file
wc -l src/index.ts src/app.ts
pwd
pwd -P
echo hello
echo "hello world"
echo 'single quoted $x'
echo -n done
echo -e 'a\tb'
echo a b c
echo "100%"
echo ok # a comment
echo '✅ done'
echo "naïve"
echo --- && ls && echo ---
echo
date
date -u
date +%F
date -u +%Y-%m-%dT%H:%M:%SZ
date "+%Y-%m-%d %H:%M"
date -d yesterday
date -d '2 days ago' +%s
date --date='next monday' +%F
date -I
date -Iseconds
date -R
date --utc
date --iso-8601=seconds
date -r file
find .
find . -type f
find . -name '*.ts'
find . -name "*.ts" -not -path "./node_modules/*"
find src -name '*.test.ts' -type f
find . -maxdepth 2 -type d
find . -type f -mtime -1
find . -type f -size +1M
find . -iname 'readme*'
find . -name node_modules -prune -o -name '*.js' -print
find . \( -name '*.ts' -o -name '*.tsx' \) -print
find . -type f -newer package.json
find . -empty
find . ! -name '*.md' -type f
find /var/log -name '*.log' -mmin -60
find . -type f -printf '%s %p\n'
find . -type f -print0
find . -regex '.*\.ts'
find . -perm -644
find -L src -type l
find . -type f | wc -l
find . -name '*.ts' | head -20
find . -path ./dist -prune -o -type f -print
find . -type f -name 'a*' -user root -ls
docker ps
docker ps -a
docker ps -aq
docker ps --all --no-trunc
docker ps --format '{{.Names}}'
docker ps --format "table {{.ID}}\t{{.Names}}"
docker ps -a --filter status=exited
docker ps -f name=web -q
docker ps -n 5
docker ps --filter "name=db" --format '{{.ID}}'
podman ps
podman ps -a
podman ps --format '{{.Names}}' --sort names
podman ps --all --pod
git status
git status -s
git status --short --branch
git status -sb
git status --porcelain
git status --porcelain=v2
git status -uno
git status --ignored
git status .
git log
git log --oneline
git log --oneline -n 5
git log --oneline -5
git log -1
git log -n5
git log --oneline --graph --all
git log --oneline --graph --decorate
git log --stat
git log -p
git log -p -- src/app.ts
git log --since=yesterday
git log --since="2 weeks ago" --author=alice --oneline
git log --oneline -n 5 --since=2024-01-01 --stat -- src
git log --pretty=format:'%h %an %s'
git log --format='%H' -n 1
git log --format="%ad %s" --date=short
git log main..feature
git log HEAD~3..HEAD
git log origin/main..HEAD --oneline
git log --grep=fix
git log -S'needle'
git log --follow README.md
git log --name-only --oneline -3
git log -L1,5:README.md
git log --merges
git log --no-merges --first-parent
git --no-pager log -3
git -P log -3
git --no-pager diff
git diff
git diff HEAD
git diff HEAD~1
git diff HEAD~1 --name-only
git diff --stat
git diff --cached
git diff --staged --stat
git diff main...feature
git diff main..HEAD -- src
git diff --name-status
git diff -w
git diff --word-diff
git diff -U10
git diff HEAD^ HEAD
git diff HEAD@{1}
git diff a1b2c3d e4f5a6b -- package.json
git diff --no-color --unified=3
git diff --shortstat origin/main
git diff | head -100
git log --oneline | head
git status && git diff --stat
git log --oneline | wc -l
git status; git log -1 --oneline
ls & pwd
ls -la |& head
ls \
  -la \
  src
# what is here
ls
`;

/** A backslash at the end continues a line, and a comment belongs to the line after it. */
function lines(text: string): string[] {
  return text
    .trim()
    .replace(/\\\n/g, '\u0000')
    .replace(/^(#.*)\n/gm, '$1\u0001')
    .split('\n')
    .map((line) => line.replaceAll('\u0000', '\\\n').replaceAll('\u0001', '\n'));
}

test('at least 95 % of everyday read-only lines are auto', () => {
  const all = lines(EVERYDAY);
  const asked = all
    .map((line) => ({ line, ...judgeLine(line, { policy: DEFAULT_POLICY, parse: parseBash, home: '/home/ana' }) }))
    .filter((judged) => judged.verdict !== 'auto');
  assert.ok(all.length >= 200, `${all.length} lines`);
  assert.ok(asked.length <= all.length * 0.01, asked.map(({ line, reason }) => `${line}\t${reason}`).join('\n'));
  for (const one of asked) assert.equal(one.verdict, 'ask', one.line);
});

test('an auto verdict lists the exact words, pipes and redirections', () => {
  const judged = judgeLine(`cat 'a b' ~/x 2>/dev/null | wc -l && pwd`, {
    policy: DEFAULT_POLICY,
    parse: parseBash,
    home: '/home/ana',
  });
  assert.equal(judged.verdict, 'auto');
  assert.deepEqual(judged.argv, [['cat', 'a b', '/home/ana/x'], ['wc', '-l'], ['pwd']]);
  assert.deepEqual(judged.plan, [
    {
      commands: [
        { argv: ['cat', 'a b', '/home/ana/x'], redirections: [{ kind: 'null', from: 'stderr' }] },
        { argv: ['wc', '-l'], redirections: [] },
      ],
      pipes: ['|'],
      then: '&&',
    },
    { commands: [{ argv: ['pwd'], redirections: [] }], pipes: [], then: ';' },
  ]);
});
