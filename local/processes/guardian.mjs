/**
 * The guardian: a tiny process that outlives the local cloud by a moment, ends its children and removes the
 * folder of their code. Its standard input is a pipe that the cloud holds open; `+pid` and `-pid` lines keep
 * a list, an `=path` line names the folder. When the pipe closes, because the cloud stopped or was killed,
 * every listed process (and its group) gets SIGKILL, which also ends a stopped one. Plain JavaScript: it is
 * started by node itself.
 */
import { rmSync } from 'node:fs';
import { createInterface } from 'node:readline';

const pids = new Set();
let folder;
const isGrouped = process.platform !== 'win32';

createInterface({ input: process.stdin })
  .on('line', (line) => {
    if (line.startsWith('=')) {
      folder = line.slice(1);
      return;
    }
    const pid = Number(line.slice(1));
    if (!Number.isInteger(pid) || pid <= 1) return;
    if (line.startsWith('+')) pids.add(pid);
    else pids.delete(pid);
  })
  .on('close', () => {
    for (const pid of pids) kill(pid);
    endWhenGone(Date.now() + 1000);
  });

// The cloud decides when this ends; a Ctrl-C in the terminal is not for it.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => {});

function kill(pid) {
  for (const target of isGrouped ? [-pid, pid] : [pid]) {
    try {
      process.kill(target, 'SIGKILL');
    } catch {
      // It is gone already.
    }
  }
}

/** A next cloud on the same data waits for the guardian's end, so it stays until its list is dead. */
function endWhenGone(giveUpAt) {
  const alive = [...pids].some((pid) => {
    try {
      return process.kill(pid, 0);
    } catch {
      return false;
    }
  });
  if (!alive || Date.now() > giveUpAt) {
    if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
    process.exit(0);
  }
  setTimeout(() => endWhenGone(giveUpAt), 5);
}
