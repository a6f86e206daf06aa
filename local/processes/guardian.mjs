/**
 * The guardian: a small process that ends the local cloud's children when the cloud ends, and removes the
 * folder of their code. The cloud keeps a pipe to its standard input open: `+pid` and `-pid` lines change a
 * list, an `=path` line names the folder. When the pipe closes, because the cloud stopped or was killed,
 * every listed process and its group get SIGKILL, which also ends a stopped process. Plain JavaScript,
 * because node runs it without a loader.
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

// Ignores Ctrl-C in the terminal: only the cloud's end ends the guardian.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => {});

function kill(pid) {
  for (const target of isGrouped ? [-pid, pid] : [pid]) {
    try {
      process.kill(target, 'SIGKILL');
    } catch {
      // The process is already gone.
    }
  }
}

/**
 * Ends once all listed processes are dead, because the next cloud on the same data waits for the guardian's
 * end.
 */
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
