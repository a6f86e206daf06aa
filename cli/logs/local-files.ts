/**
 * Reads the log lines of a system on this machine, from one file for each function and worker.
 *
 * Owns: reading whole lines from the last position on. Does not own: the folder (`../dev/dev-folder.ts`).
 */

import { open, readdir } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { CliError, EXIT } from '../io.ts';
import { inOrder, type LogLine, type LogSource } from '../../lib/view/log-line.ts';

const CHUNK_BYTES = 1 << 20;
const NEWLINE = 10;

/** The position up to which a file was read, and the incomplete line before it. */
interface Place {
  readonly at: number;
  readonly begun: Buffer;
}

export class LocalFiles implements LogSource {
  readonly #folder: string;
  readonly #read: (text: string, source: string) => LogLine | undefined;
  readonly #places = new Map<string, Place>();

  /** @param read parses a line of a file; undefined leaves it out */
  constructor(folder: string, read: (text: string, source: string) => LogLine | undefined) {
    this.#folder = folder;
    this.#read = read;
  }

  /** @throws CliError `no-logs` if the folder has no logs */
  async next(): Promise<readonly LogLine[]> {
    const names = await readdir(this.#folder).catch(() => undefined);
    if (names === undefined)
      throw new CliError(
        'no-logs',
        `there are no logs in ${this.#folder}; name the data folder that the API was started with: --data <folder>, or for a deployment --stack <name>; steadfast serve writes its lines to its standard output alone`,
        EXIT.failed,
      );
    const lines: LogLine[] = [];
    // Names with an underscore are the local cloud's own logs.
    for (const name of names.filter((one) => one.endsWith('.log') && !one.startsWith('_')).sort())
      await this.#readFile(name, lines);
    return inOrder(lines);
  }

  async #readFile(name: string, lines: LogLine[]): Promise<void> {
    const file = await open(join(this.#folder, name), 'r');
    try {
      const { size } = await file.stat();
      let { at, begun } = this.#places.get(name) ?? { at: 0, begun: Buffer.alloc(0) };
      // The file was replaced, by `--fresh`.
      if (size < at) [at, begun] = [0, Buffer.alloc(0)];
      const chunk = Buffer.alloc(Math.min(CHUNK_BYTES, size - at));
      while (at < size) {
        const { bytesRead } = await file.read(chunk, 0, Math.min(chunk.length, size - at), at);
        if (bytesRead === 0) break;
        at += bytesRead;
        begun = this.#take(Buffer.concat([begun, chunk.subarray(0, bytesRead)]), name, lines);
      }
      this.#places.set(name, { at, begun });
    } finally {
      await file.close();
    }
  }

  /** Takes the whole lines. @returns the incomplete rest */
  #take(bytes: Buffer, name: string, lines: LogLine[]): Buffer {
    let from = 0;
    for (let to = bytes.indexOf(NEWLINE); to >= 0; to = bytes.indexOf(NEWLINE, from)) {
      const line = this.#read(bytes.toString('utf8', from, to), basename(name, '.log'));
      if (line !== undefined) lines.push(line);
      from = to + 1;
    }
    return bytes.subarray(from);
  }
}
