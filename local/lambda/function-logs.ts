/** One log file per function; each line also goes to the listeners. */
import { createWriteStream, type WriteStream } from 'node:fs';
import { join } from 'node:path';

/** A line that a function wrote. */
export interface LogLine {
  readonly functionName: string;
  readonly pid: number;
  readonly stream: 'stdout' | 'stderr';
  readonly line: string;
  readonly at: number;
}

export class FunctionLogs {
  readonly #directory: string;
  readonly #onLog: ((line: LogLine) => void) | undefined;
  readonly #files = new Map<string, WriteStream>();

  constructor(directory: string, onLog: ((line: LogLine) => void) | undefined) {
    this.#directory = directory;
    this.#onLog = onLog;
  }

  write(functionName: string, pid: number, stream: 'stdout' | 'stderr', line: string): void {
    let file = this.#files.get(functionName);
    if (file === undefined) {
      file = createWriteStream(join(this.#directory, `${functionName}.log`), { flags: 'a' });
      file.on('error', () => {});
      this.#files.set(functionName, file);
    }
    file.write(`${line}\n`);
    this.#onLog?.({ functionName, pid, stream, line, at: Date.now() });
  }

  async close(): Promise<void> {
    const files = [...this.#files.values()];
    await Promise.all(
      files.map(async (file) => await new Promise<void>((resolve) => file.end(() => resolve()))),
    );
  }
}
