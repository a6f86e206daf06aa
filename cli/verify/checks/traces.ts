/**
 * Checks of what the executions of the smoke have left: logs, metrics, dead letters.
 */

import { METRICS, type MetricName } from '../../../lib/aws/names.ts';
import { type Check, type Entry, type Finding, finding } from '../check.ts';
import type { Ports } from '../ports.ts';
import { ended, until } from '../starting.ts';

type Rest = Pick<Check, 'id' | 'area' | 'row' | 'expected' | 'needs'> & Partial<Pick<Check, 'stops'>>;
const trace = (rest: Rest, run: Check['run']): Check => ({ phase: 'traces', dollars: 0.001, ...rest, run });

/** No line of any function's log may have one of the texts. */
const silent = (rest: Omit<Rest, 'needs' | 'expected'>, texts: readonly string[]): Check =>
  trace({ ...rest, needs: ['logs', 'probes'], expected: 'no such line' }, async ({ logs }) => {
    const lines = await logs(texts);
    return finding(
      lines.map((line) => excerpt(line, texts)),
      `no line has ${texts.join(' or ')}`,
    );
  });
/** What is around the text; a line may be long, and may begin with what says little. */
function excerpt(line: string, texts: readonly string[]): string {
  const at = Math.max(0, ...texts.map((text) => line.indexOf(text)));
  return line.slice(Math.max(0, at - BEFORE_CHARS), at + AFTER_CHARS);
}
const BEFORE_CHARS = 100;
const AFTER_CHARS = 400;

/** Those that one run of the smoke makes for certain. */
const EMITTED: readonly MetricName[] = [
  'Started',
  'Succeeded',
  'Compensated',
  'Canceled',
  'Attempts',
  'Probes',
  'Undos',
  'Unknowns',
  'StepsDone',
  'Messages',
  'IncidentsOpened',
];

export const TRACES: readonly Entry[] = [
  silent(
    {
      id: 'permissions',
      area: 'Account and template',
      stops: true,
      row: 'Functions may do all that they must.',
    },
    ['AccessDenied', 'KMSAccessDenied'],
  ),
  silent(
    {
      id: 'direct-calls',
      area: 'Account and template',
      stops: true,
      row: "AWS understands direct calls; else set `transport: 'sdk'`.",
    },
    ['SignatureDoesNotMatch', 'UnknownOperation', 'IncompleteSignature'],
  ),
  silent(
    {
      id: 'credentials',
      area: 'Account and template',
      stops: true,
      row: 'Functions find their credentials.',
    },
    ['no AWS credentials'],
  ),
  silent(
    { id: 'debug-lines', area: 'Observation and cost', row: 'DEBUG lines appear only where asked for.' },
    ['"level":"DEBUG"', '"level":"debug"'],
  ),
  trace(
    {
      id: 'execution-lines',
      area: 'Observation and cost',
      row: 'Log lines name their execution and step.',
      needs: ['logs', 'probes'],
      expected: 'lines with executionId',
    },
    async ({ logs }) => {
      const lines = await logs(['"execution']);
      return finding(
        lines.length === 0 ? ['no line names an execution'] : [],
        `${lines.length} lines or more`,
      );
    },
  ),
  trace(
    {
      id: 'metrics',
      area: 'Observation and cost',
      row: 'Metrics arrive under these names.',
      needs: ['metrics', 'probes'],
      expected: EMITTED.join(', '),
    },
    async (ports) => {
      const missing: string[] = [];
      for (const name of EMITTED) {
        const sum = await until(ports, () => ports.metric(name));
        if (!((sum ?? 0) > 0)) missing.push(`${name} has no data`);
      }
      return finding(missing, `${EMITTED.length} of ${Object.keys(METRICS).length} names, each with data`);
    },
  ),
  trace(
    {
      id: 'sweeps',
      area: 'Supervision',
      stops: true,
      row: 'Supervisors sweep.',
      needs: ['metrics'],
      expected: 'Sweeps above 0',
    },
    async (ports) => {
      const sum = await until(ports, () => ports.metric('Sweeps'));
      return finding((sum ?? 0) > 0 ? [] : ['no supervisor has swept'], `${sum ?? 0} sweeps`);
    },
  ),
  trace(
    {
      id: 'called',
      area: 'Supervision',
      row: 'A start in a quiet system calls a supervisor.',
      needs: ['logs', 'probes'],
      expected: 'a line "called"',
    },
    called,
  ),
  trace(
    {
      id: 'dead-letters',
      area: 'Executions',
      row: 'No message is left in a dead-letter queue.',
      needs: ['settings', 'probes'],
      expected: 'every one empty',
    },
    async ({ settings, probes }) => {
      const { queues } = await settings();
      const dead = new Set(queues.flatMap(({ deadLetters }) => deadLetters ?? []));
      const problems: string[] = [];
      for (const { name, url } of queues) {
        if (!dead.has(name)) continue;
        const depth = await probes.depth(url);
        if (depth > 0) problems.push(`${name} has ${depth}`);
      }
      return finding(problems, `${dead.size} queues empty`);
    },
  ),
  trace(
    {
      id: 'nothing-open',
      area: 'Executions',
      row: 'Nothing of the smoke stays open.',
      needs: ['probes'],
      expected: 'no open execution of a workflow of verify',
    },
    async (ports) => {
      const open = await until(ports, async () => {
        const { items } = await ports.api.list({ status: 'open', limit: 100 });
        return items.some(({ workflow }) => workflow.startsWith('verify-')) ? undefined : 0;
      });
      return finding(open === 0 ? [] : ['an execution is still open'], 'none');
    },
  ),
];

const STARTS = 3;
/** A supervisor that is at work already is not called: then once more, after a while. */
async function called(ports: Ports): Promise<Finding> {
  for (let start = 1; ; start += 1) {
    const lines = await ports.logs(['"called"']);
    if (lines.length > 0) return { ok: true, evidence: `${lines.length} calls` };
    if (start > STARTS) return { ok: false, evidence: `none of ${STARTS} starts called a supervisor` };
    await ports.clock.sleep(QUIET_MS);
    await ended(ports, 'verify-order', { mode: 'lose-answer' }, `called-${start}`);
  }
}
/** Longer than a supervisor stays that finds nothing due. */
const QUIET_MS = 15_000;
