/**
 * Rates the risk of a command for the person who decides. LOW means that every command is known to
 * only read. HIGH means that one deletes, interprets, builds, installs or reaches another host. An
 * unknown command is MEDIUM. The gate does not use the rating.
 */
import type { ApprovalRequest } from '../../domain/task/approval.js';
import type { Inspection, Leaf } from './command.js';

const HIGH = new Set(
  `rm rmdir unlink shred truncate dd mv chmod chown chgrp chattr setfacl ln mount umount kill pkill killall
  curl wget ssh scp sftp rsync nc ncat netcat socat telnet ftp aria2c
  sh bash dash zsh ksh fish csh tcsh busybox python python2 python3 pypy perl ruby node nodejs deno bun tsx php lua luajit
  tclsh R Rscript julia osascript pwsh powershell awk gawk mawk sed ed ex vi vim emacs
  npm npx pnpm yarn pip pip3 pipx uv uvx poetry conda cargo rustc go gem bundle rake composer brew apt apt-get dnf yum apk pacman snap
  make gmake cmake ninja meson gradle mvn ant bazel tox just
  eval exec source . command builtin env xargs parallel nohup setsid timeout time nice ionice stdbuf watch script strace gdb
  crontab at batch systemctl service launchctl sudo su doas docker podman kubectl terraform ansible aws gcloud az gh
  tar unzip install cp patch git-shell`.split(/\s+/),
);

/** `git` commands that change nothing outside its repository. */
const LOCAL_GIT = new Set(
  'add commit branch tag status log diff show blame describe rev-parse ls-files stash merge rebase switch'.split(' '),
);

export function riskOfCommand(
  line: string,
  { leaves, unclear }: Inspection,
  network: boolean,
): ApprovalRequest['risk'] {
  if (network || unclear) return 'HIGH';
  // Not a plain list: loops, functions and substitutions are judged by the words in them.
  if (leaves.length === 0) return line.split(/[^\w./+-]+/).some(isHighName) ? 'HIGH' : 'MEDIUM';
  if (leaves.some(isHigh)) return 'HIGH';
  return leaves.every((leaf) => leaf.whyAsk === undefined) ? 'LOW' : 'MEDIUM';
}

function isHigh({ command, text, whyAsk }: Leaf): boolean {
  if (whyAsk === undefined) return false;
  const argv = command?.argv ?? text.split(/\s+/);
  const [name = '', ...rest] = argv;
  if (isHighName(name)) return true;
  if (name === 'git') return !LOCAL_GIT.has(rest.find((word) => !word.startsWith('-')) ?? '');
  return name === 'find' && rest.some((word) => /^-(?:delete|exec|ok|fprint|fls)/.test(word));
}

/** A program named by a path may be anything. */
function isHighName(name: string): boolean {
  return name.includes('/')
    ? !name.startsWith('-')
    : HIGH.has(name) || /^(?:python|pip|ruby|perl|node)[\d.]+$/.test(name);
}
