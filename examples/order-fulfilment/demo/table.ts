/**
 * Shows the orders in a table while they run: redrawn in place on a terminal, plain lines elsewhere.
 *
 * Owns: the layout of the table. Does not own: when to draw it.
 */

import type { Execution, Step } from './api.ts';

/** The part of a stream that the table needs; `process.stdout` is one. */
export interface Screen {
  readonly isTTY?: boolean;
  readonly columns?: number;
  write(text: string): unknown;
}

export interface Row {
  readonly orderId: string;
  readonly title: string;
  readonly execution: Execution | undefined;
}

export interface Table {
  /** Prints an event on a line of its own: a fault that was delivered, a tick. */
  readonly say: (text: string) => void;
  readonly show: (rows: readonly Row[]) => void;
  /** Leaves the last picture on the screen; writes nothing afterwards. */
  readonly close: () => void;
}

type Looks = Omit<Table, 'close'>;

/** Statuses with nothing to show yet. */
const NOT_YET: ReadonlySet<string> = new Set(['pending', 'ready']);

const STEPS = ['charge', 'reserve', 'ship', 'notify', 'tell-customer'] as const;

export function tableOn(screen: Screen, startedAt: number, now: () => number = Date.now): Table {
  let isClosed = false;
  const open: Screen = {
    write: (text) => (isClosed ? undefined : screen.write(text)),
    // Read each time, since a window can change; a terminal of unknown width reports 0.
    get columns() {
      return screen.columns === undefined || screen.columns === 0 ? 100 : screen.columns;
    },
  };
  const clock = (): string => `${((now() - startedAt) / 1_000).toFixed(1).padStart(5)} s`;
  const looks = screen.isTTY === true ? liveTable(open, clock) : plainLines(open, clock);
  return {
    ...looks,
    close: () => {
      isClosed = true;
    },
  };
}

function plainLines(screen: Screen, clock: () => string): Looks {
  const shown = new Map<string, string>();
  const line = (text: string): void => {
    screen.write(`${clock()}  ${text}\n`);
  };
  const ifChanged = (key: string, value: string, text: string): void => {
    if (shown.get(key) === value) return;
    shown.set(key, value);
    line(text);
  };
  return {
    say: line,
    show: (rows) => {
      for (const { orderId, execution } of rows) {
        if (execution === undefined) continue;
        for (const step of execution.steps) {
          const value = cell(step);
          if (value !== '') ifChanged(`${orderId}/${step.name}`, value, `${orderId}: ${step.name} ${value}`);
        }
        ifChanged(orderId, execution.status, `${orderId}: the order is ${execution.status}`);
      }
    },
  };
}

function liveTable(screen: Screen, clock: () => string): Looks {
  let height = 0;
  let rows: readonly Row[] = [];
  // Widths only grow, so that the columns do not jump.
  let widths: readonly number[] = [];
  const draw = (above = ''): void => {
    // Erases from the picture's first line down; in the same write as the next picture, to avoid flicker.
    const erase = height > 0 ? `\u001B[${height}A\u001B[0J` : '';
    const cells = cellsOf(rows);
    widths = (cells[0] ?? []).map((_, column) =>
      Math.max(widths[column] ?? 0, ...cells.map((line) => line[column]?.length ?? 0)),
    );
    const lines = cells.length === 0 ? [] : picture(cells, widths, clock(), screen.columns ?? 100);
    screen.write(erase + above + lines.map((line) => `${line}\n`).join(''));
    height = lines.length;
  };
  return {
    say: (text) => draw(`${clock()}  ${text}\n`),
    show: (latest) => {
      rows = latest;
      draw();
    },
  };
}

function cellsOf(rows: readonly Row[]): readonly (readonly string[])[] {
  if (rows.length === 0) return [];
  return [
    ['order', 'status', ...STEPS],
    ...rows.map(({ title, execution }) => [
      title,
      execution?.status ?? '',
      ...STEPS.map((name) => cell(execution?.steps.find((step) => step.name === name))),
    ]),
  ];
}

function picture(
  cells: readonly (readonly string[])[],
  widths: readonly number[],
  time: string,
  columns: number,
): string[] {
  const text = cells.map((line) => line.map((value, column) => value.padEnd(widths[column] ?? 0)).join('  '));
  const rule = '─'.repeat(Math.min(columns, text[0]?.length ?? 0));
  // A line that wraps would take two lines, and erasing would miss one.
  return ['', time, ...text.toSpliced(1, 0, rule)].map((line) => line.slice(0, columns));
}

/** The step's status, with the number of tries if there was more than one. */
function cell(step: Step | undefined): string {
  if (step === undefined || NOT_YET.has(step.status)) return '';
  const tries = step.attempts.filter((attempt) => attempt.mode === 'execute').length;
  const probes = step.attempts.filter((attempt) => attempt.mode === 'probe').length;
  const notes = [tries > 1 ? `${tries} tries` : '', probes > 0 ? 'asked' : ''].filter((note) => note !== '');
  return notes.length === 0 ? step.status : `${step.status} (${notes.join(', ')})`;
}
