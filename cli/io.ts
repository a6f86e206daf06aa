/**
 * A command's terminal, exit codes and errors.
 *
 * Owns: escaping, the exit codes, the text of a command to type next, the range of a port. Does not own: the
 * exit code of each error (`main.ts`).
 *
 * A failure's message, a reason or an output may contain control sequences. They are escaped in the output of
 * all commands; line ends were removed earlier (`one-line.ts`). Our own sequences are listed in `MOVES`.
 */

import { setTimeout } from 'node:timers/promises';
import { type Command, InvalidArgumentError } from 'commander';
import { printableLines } from '../lib/view/text.ts';

export const DEFAULT_URL = 'http://127.0.0.1:4510';

/**
 * Marks a `--url` that was found through a `steadfast dev` in this folder. Suggested commands leave it out,
 * because the next command finds it, too.
 */
export const RUNNING = 'running';

/** The text of a command to type next, for the same API. */
export function invocation(command: Command, line: string): string {
  const { url, region } = command.optsWithGlobals<{ url: string; region?: string }>();
  const isFound = command.getOptionValueSourceWithGlobals('url') === RUNNING;
  const at = isFound || url === DEFAULT_URL ? '' : ` --url ${plain(url)}`;
  const of = region === undefined ? '' : ` --region ${plain(region)}`;
  return `npx steadfast ${line}${at}${of}`;
}

const plain = (text: string): string => (/^[\w:/.@%+~,=-]+$/.test(text) ? text : quoted(text));

const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;

/** Streams to which text is written unchanged. */
export interface Terminal {
  readonly out: (text: string) => unknown;
  readonly err: (text: string) => unknown;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Whether `out` is a terminal, so that a line can be overwritten. */
  readonly isTTY: boolean;
  /** Asks a person to type a line; absent without a terminal. */
  readonly ask?: (question: string) => Promise<string>;
}

/** Control sequences for a terminal. */
const MOVES = {
  /** Empties the screen. */
  clear: '\u001B[H\u001B[2J',
  /** Returns to the beginning of the line. */
  back: '\r',
  /** Returns to the beginning of the line and clears it. */
  rewrite: '\r\u001B[K',
} as const;

/** Streams that escape control characters. */
export interface Io extends Terminal {
  /** Writes a control sequence, but only to a terminal. */
  readonly move: (move: keyof typeof MOVES) => void;
}

export const ioOf = (terminal: Terminal): Io => ({
  ...terminal,
  out: (text) => terminal.out(printableLines(text)),
  err: (text) => terminal.err(printableLines(text)),
  ...(terminal.ask === undefined ? {} : { ask: asking(terminal.ask) }),
  move: (move) => {
    if (terminal.isTTY) terminal.out(MOVES[move]);
  },
});

const asking =
  (ask: NonNullable<Terminal['ask']>): NonNullable<Terminal['ask']> =>
  (question) =>
    ask(printableLines(question));

/** The time; tests replace it. */
export interface Clock {
  now(): number;
  sleep(ms: number): Promise<void>;
}

export const CLOCK: Clock = {
  now: () => Date.now(),
  async sleep(ms) {
    await setTimeout(ms);
  },
};

export interface Cli {
  readonly io: Io;
  /** The exit code of a command that did not throw; not 0 if what it reports is bad. */
  exitCode: number;
}

export const EXIT = {
  ok: 0,
  failed: 1,
  usage: 2,
  noAnswer: 3,
  notSucceeded: 4,
  degraded: 5,
  notKnown: 6,
} as const;

/** An error of the command line; its message has advice. */
export class CliError extends Error {
  override readonly name = 'CliError';
  readonly code: string;
  readonly exit: number;

  constructor(code: string, message: string, exit: number = EXIT.usage) {
    super(message);
    this.code = code;
    this.exit = exit;
  }
}

/** The message of any thrown value, even of an error from another realm. */
export const messageOf = (error: unknown): string =>
  (Object(error) as { message?: string }).message ?? String(error);

/** Reads the value of `--port`; 0 takes any free one. */
export function portOf(text: string): number {
  const port = Number(text);
  if (Number.isInteger(port) && port >= 0 && port <= 65_535) return port;
  throw new InvalidArgumentError('give 0 to 65535.');
}
