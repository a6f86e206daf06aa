/** Prints docs/STATE-MACHINE.md from the tables in lib/core/transitions.ts. */

import { STEP_DETAILS } from '../lib/core/step-details.ts';
import { EXECUTION_MOVES, STEP_MOVES } from '../lib/core/transitions.ts';

interface Machine {
  readonly title: string;
  readonly about: string;
  readonly first: string;
  readonly moves: Readonly<Record<string, Readonly<Partial<Record<string, string | readonly string[]>>>>>;
}

const MACHINES: readonly Machine[] = [
  {
    title: 'Executions',
    about: 'An execution starts as `running`. A status without a way out to another one is an end (S1).',
    first: 'running',
    moves: EXECUTION_MOVES,
  },
  {
    title: 'Steps',
    about:
      'A step has no record until it is first claimed, skipped or fenced: until then it is `ready`, or waits for its predecessors.',
    first: 'ready',
    moves: STEP_MOVES,
  },
];

export function printStateMachine(): string {
  const head = [
    '# State machine',
    '',
    'Printed from `lib/core/transitions.ts` by `npm run docs`; do not edit. That file also has the events that keep a status;',
    '`moves.ts` beside it says what each event means. Any other move is refused with `illegal-move` (S2).',
  ];
  return `${[...head, ...MACHINES.flatMap(section), ...details()].join('\n')}\n`;
}

/** Facts that a status alone does not say. */
const details = (): string[] => [
  '',
  '| a step that is | has the field | when it is |',
  '| --- | --- | --- |',
  ...Object.entries(STEP_DETAILS).map(([status, { field, by }]) => `| ${status} | \`${field}\` | ${by} |`),
];

const section = (machine: Machine): string[] => [
  '',
  `## ${machine.title}`,
  '',
  machine.about,
  '',
  ...diagram(machine),
];

const movesOf = ({ moves }: Machine): { from: string; event: string; to: string }[] =>
  Object.entries(moves).flatMap(([from, row]) =>
    Object.entries(row).flatMap(([event, targets]) =>
      [targets ?? []].flat().map((to) => ({ from, event, to })),
    ),
  );

/** Mermaid allows no dash in an identifier, so every status has an alias. */
const alias = (status: string): string => status.replaceAll('-', '_');

/** One arrow per pair of statuses; an event that keeps the status is not drawn. */
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
  Object.values(machine.moves[status] ?? {})
    .flat()
    .every((to) => to === status);
