/** Prints docs/STATE-MACHINE.md from the tables in lib/core/transitions.ts. */

import { EXECUTION_EVENTS, STEP_EVENTS } from '../lib/core/records/moves.ts';
import { EXECUTION_MOVES, STEP_MOVES } from '../lib/core/transitions.ts';

interface Machine {
  readonly title: string;
  readonly about: string;
  readonly first: string;
  readonly moves: Readonly<Record<string, Readonly<Partial<Record<string, string>>>>>;
  readonly events: Readonly<Record<string, string>>;
}

const MACHINES: readonly Machine[] = [
  {
    title: 'Executions',
    about: 'An execution starts as `running`. A status without a way out to another one is an end (S1).',
    first: 'running',
    moves: EXECUTION_MOVES,
    events: EXECUTION_EVENTS,
  },
  {
    title: 'Steps',
    about:
      'A step has no record until it is first claimed, skipped or fenced: until then it is `ready`, or waits for its predecessors.',
    first: 'ready',
    moves: STEP_MOVES,
    events: STEP_EVENTS,
  },
];

export function printStateMachine(): string {
  const head = [
    '# State machine',
    '',
    'Printed from `lib/core/transitions.ts` by `npm run docs`; do not edit. These are all the moves there are: whatever',
    'has no row is refused with `illegal-move` (S2), and a test goes through every status and every event.',
  ];
  return `${[...head, ...MACHINES.flatMap(section)].join('\n')}\n`;
}

const section = (machine: Machine): string[] => [
  '',
  `## ${machine.title}`,
  '',
  machine.about,
  '',
  ...diagram(machine),
  '',
  ...moveTable(machine),
  '',
  ...eventTable(machine),
];

const movesOf = ({ moves }: Machine): { from: string; event: string; to: string }[] =>
  Object.entries(moves).flatMap(([from, row]) =>
    Object.entries(row).map(([event, to]) => ({ from, event, to: to ?? '' })),
  );

/** Mermaid knows no dash in an identifier, so every status has an alias. */
const alias = (status: string): string => status.replaceAll('-', '_');

/** One arrow per pair of statuses; what leaves the status as it is is left to the table. */
function diagram(machine: Machine): string[] {
  const arrows = new Map<string, string[]>();
  for (const { from, event, to } of movesOf(machine)) {
    if (from === to) continue;
    const arrow = `${alias(from)} --> ${alias(to)}`;
    arrows.set(arrow, [...(arrows.get(arrow) ?? []), event]);
  }
  const statuses = Object.keys(machine.moves);
  const ends = statuses.filter((status) => isEnd(machine, status));
  return [
    '```mermaid',
    'stateDiagram-v2',
    ...statuses
      .filter((status) => status.includes('-'))
      .map((status) => `  state "${status}" as ${alias(status)}`),
    `  [*] --> ${alias(machine.first)}`,
    ...[...arrows].map(([arrow, events]) => `  ${arrow} : ${events.join(', ')}`),
    ...ends.map((status) => `  ${alias(status)} --> [*]`),
    '```',
  ];
}

const isEnd = (machine: Machine, status: string): boolean =>
  Object.values(machine.moves[status] ?? {}).every((to) => to === status);

function moveTable(machine: Machine): string[] {
  const rows = Object.entries(machine.moves).map(([from, row]) => {
    const ways = Object.entries(row).map(([event, to]) =>
      to === from ? `${event} (stays)` : `${event} → **${to}**`,
    );
    return [from, ways.length === 0 ? '(end)' : ways.join(' · ')];
  });
  return table(['status', 'event → next status'], rows);
}

function eventTable(machine: Machine): string[] {
  const rows = Object.entries(machine.events).map(([event, meaning]) => {
    const from = movesOf(machine)
      .filter((move) => move.event === event)
      .map((move) => move.from);
    return [event, meaning, from.join(', ')];
  });
  return table(['event', 'what it means', 'possible in'], rows);
}

/** Columns aligned, as the formatter wants them. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string[] {
  const widths = head.map((_, at) => Math.max(...[head, ...rows].map((row) => row[at]?.length ?? 0)));
  const line = (cells: readonly string[]): string =>
    `| ${cells.map((cell, at) => cell.padEnd(widths[at] ?? 0)).join(' | ')} |`;
  return [line(head), line(widths.map((width) => '-'.repeat(width))), ...rows.map(line)];
}
