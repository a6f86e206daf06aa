/** The figures of the engines, as cells: for the terminal, and for the page (`report.ts`). */

import type { Beside, Peer, PeerFigures, PeerSkipped } from './beside.ts';
import { table } from './print.ts';

export const BESIDE_HEAD = [
  'engine',
  'steps/s, 64 in flight',
  'five steps p50 ms',
  'p99 ms',
  'CPU s per 1,000 steps',
  'one at a time',
  'MB, all processes',
  'processes',
  'waiting, CPU ms/s',
] as const;

export const isMeasured = (peer: Peer): peer is PeerFigures => !('skipped' in peer);
export const isSkipped = (peer: Peer): peer is PeerSkipped => 'skipped' in peer;

/** 1 if a requested engine is missing, because a reader of the table alone would not notice that. */
export const exitCodeOf = ({ peers }: Pick<Beside, 'peers'>): number => (peers.some(isSkipped) ? 1 : 0);

export const besideCells = (peer: PeerFigures): string[] => [
  peer.name,
  peer.stepsPerSecond.toLocaleString('en'),
  peer.p50Ms.toFixed(1),
  peer.p99Ms.toFixed(1),
  peer.cpuSecondsPer1000Steps.toFixed(2),
  peer.cpuOneAtATime.toFixed(2),
  String(peer.memoryMb),
  String(peer.processes),
  peer.idleCpuMsPerSecond.toFixed(0),
];

export const skippedText = ({ name, version, skipped, install }: PeerSkipped): string =>
  `${name} ${version} was not measured: ${skipped}${install === undefined ? '' : ` (\`${install}\` brings it)`}.`;

/** How the figures were measured: their meaning depends on it. */
export const howTaken = ({ options, node, fsyncMs, othersShare }: Omit<Beside, 'peers'>): string =>
  `In turns, rounds: ${options.rounds}; each ${options.single} executions one after the other and ${options.executions} with ${options.inFlight} in flight; warmed up with ${options.warmUp}; Node ${node}; an fsync of 4 KB takes ${fsyncMs} ms; others on this machine took ${(othersShare * 100).toFixed(0)} % of its processors' time.${options.only.length === 0 ? '' : ` Of the other engines only ${options.only.join(', ')}.`}`;

export function besideTable(beside: Beside): string {
  const measured = beside.peers.filter(isMeasured);
  return [
    `\nBeside other engines: ${howTaken(beside)}\n`,
    table(BESIDE_HEAD, measured.map(besideCells)),
    '',
    ...measured.map(
      ({ name, version, server, durableBy }) =>
        `${name} ${version}: durable by ${durableBy}${server === undefined ? '' : ` (${server})`}`,
    ),
    ...beside.peers.filter(isSkipped).map(skippedText),
  ].join('\n');
}
