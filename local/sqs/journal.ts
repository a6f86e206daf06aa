/**
 * Stores the changes of a queue in a file, one JSON line each, and replays them at the next start. Does not
 * own: what a change means to a receiver (queue.ts).
 *
 * Invariants
 * - I1 a line is written before the change is answered, without fsync: messages survive kill -9 of the
 *   local cloud, but not a power cut.
 * - I2 an incomplete last line, left by a crash during a write, is dropped; any other bad line is an error.
 */
import { closeSync, existsSync, openSync, readFileSync, renameSync, writeFileSync, writeSync } from 'node:fs';
import type { StoredMessage } from './message.ts';

export interface JournalRecord {
  /** `received` also stands for a changed visibility. */
  readonly kind: 'sent' | 'received' | 'deleted';
  readonly message: StoredMessage;
}

/** The file to which a queue writes its changes. */
export interface QueueJournal {
  /** Reads the messages of the last run, in order. Must be called once, before all else. */
  load(): StoredMessage[];
  record(entry: JournalRecord): void;
  close(): void;
}

/** A journal that stores nothing, for tests. */
export const noJournal: QueueJournal = { load: () => [], record: () => {}, close: () => {} };

/** The number of outdated lines after which the file is rewritten. */
const COMPACT_AFTER_LINES = 20_000;

type Line =
  | { readonly t: 's'; readonly m: StoredMessage }
  | { readonly t: 'r'; readonly id: string; readonly v: number; readonly n: number; readonly f: number }
  | { readonly t: 'd'; readonly id: string };

/** A journal in a file. It is rewritten at every start, and whenever most of its lines are outdated. */
export class FileJournal implements QueueJournal {
  readonly #path: string;
  readonly #live = new Map<string, StoredMessage>();
  #fd: number | undefined;
  #lineCount = 0;

  constructor(path: string) {
    this.#path = path;
  }

  load(): StoredMessage[] {
    if (existsSync(this.#path)) this.#replay(readFileSync(this.#path, 'utf8'));
    this.#compact();
    return [...this.#live.values()];
  }

  record(entry: JournalRecord): void {
    const { message } = entry;
    if (this.#fd === undefined) return;
    writeSync(this.#fd, `${JSON.stringify(lineOf(entry))}\n`);
    this.#lineCount += 1;
    if (entry.kind === 'deleted') this.#live.delete(message.messageId);
    else this.#live.set(message.messageId, message);
    if (this.#lineCount > COMPACT_AFTER_LINES + 2 * this.#live.size) this.#compact();
  }

  close(): void {
    if (this.#fd !== undefined) closeSync(this.#fd);
    this.#fd = undefined;
  }

  #replay(content: string): void {
    const lines = content.split('\n');
    const torn = lines.pop();
    // A complete file ends with a line break, so the last piece is '' unless a crash cut off the last write.
    if (torn !== undefined && torn !== '') lines.push(...(isComplete(torn) ? [torn] : []));
    for (const text of lines) this.#apply(JSON.parse(text) as Line);
  }

  #apply(line: Line): void {
    if (line.t === 's') {
      this.#live.set(line.m.messageId, line.m);
      return;
    }
    const message = this.#live.get(line.id);
    if (line.t === 'd') this.#live.delete(line.id);
    else if (message !== undefined) {
      message.state = 'inFlight';
      message.visibleAt = line.v;
      message.receiveCount = line.n;
      message.firstReceivedAt = line.f;
    }
  }

  #compact(): void {
    this.close();
    const lines = [...this.#live.values()].map((message) => `${JSON.stringify({ t: 's', m: message })}\n`);
    const fresh = `${this.#path}.new`;
    writeFileSync(fresh, lines.join(''));
    renameSync(fresh, this.#path);
    this.#fd = openSync(this.#path, 'a');
    this.#lineCount = lines.length;
  }
}

function lineOf({ kind, message }: JournalRecord): Line {
  if (kind === 'sent') return { t: 's', m: message };
  if (kind === 'deleted') return { t: 'd', id: message.messageId };
  const firstReceivedAt = message.firstReceivedAt ?? message.visibleAt;
  return { t: 'r', id: message.messageId, v: message.visibleAt, n: message.receiveCount, f: firstReceivedAt };
}

function isComplete(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
