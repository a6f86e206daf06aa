/**
 * Checks of what the template has set, as it is in the deployment: reads alone.
 *
 * Owns: what each setting must be. Does not own: where it is read (`../template-settings.ts`, `../aws.ts`).
 */

import { ENV, INDEXES, METRICS, METRICS_NAMESPACE, TABLE } from '../../../lib/aws/names.ts';
import { type Check, type Entry, type Finding, finding } from '../check.ts';
import type { Settings } from '../ports.ts';

/** https://docs.aws.amazon.com/lambda/latest/dg/services-sqs-configure.html */
const VISIBILITY_FACTOR = 6;
/** The oldest Node that the bundles run on. */
const OLDEST_NODE = 22;
const TWO_WEEKS_S = 14 * 24 * 3_600;

type Rest = Pick<Check, 'id' | 'area' | 'row' | 'expected'> & Partial<Pick<Check, 'stops'>>;
const setting = (rest: Rest, test: (settings: Settings) => Finding): Check => ({
  phase: 'settings',
  needs: ['settings'],
  dollars: 0,
  ...rest,
  run: async ({ settings }) => test(await settings()),
});

const isSupervisor = ({ variables }: Settings['functions'][number]): boolean =>
  variables[ENV.sweepEveryMs] !== undefined;
const isAudit = ({ variables }: Settings['functions'][number]): boolean =>
  variables[ENV.auditEveryMs] !== undefined;
const ours = ({ functions }: Settings): Settings['functions'] =>
  functions.filter(({ variables }) => variables[ENV.table] !== undefined);

/** Those of our functions: a stack may have others. */
const read = (settings: Settings): Settings['mappings'] =>
  settings.mappings.filter((mapping) => ours(settings).some(({ name }) => name === mapping.function));

const area = 'Account and template';

export const SETTINGS: readonly Entry[] = [
  setting(
    {
      id: 'runtime',
      area,
      row: 'Functions run on a Node that the bundles run on.',
      expected: `nodejs${OLDEST_NODE}.x or later`,
    },
    (settings) => {
      const all = ours(settings);
      const wrong = all.filter(
        ({ runtime }) => !(Number(/^nodejs(\d+)\.x$/.exec(runtime)?.[1]) >= OLDEST_NODE),
      );
      return finding(
        [
          ...(all.length === 0 ? ['no function of a Steadfast is there'] : []),
          ...wrong.map(({ name, runtime }) => `${name} runs on ${runtime}`),
        ],
        `${all.length} functions on ${[...new Set(all.map(({ runtime }) => runtime))].join(', ')}`,
      );
    },
  ),
  setting(
    {
      id: 'recursion-settings',
      area,
      stops: true,
      row: 'Functions may chain messages, the supervisor may not.',
      expected: 'RecursiveLoop Allow; of supervisor and audit Terminate',
    },
    (settings) => {
      const wrong = ours(settings).filter(
        (one) => one.recursionAllowed === (isSupervisor(one) || isAudit(one)),
      );
      return finding(
        wrong.map(({ name, recursionAllowed }) => `${name} has ${recursionAllowed ? 'Allow' : 'Terminate'}`),
        'as the template sets it',
      );
    },
  ),
  setting(
    {
      id: 'visibility',
      area,
      row: 'Messages stay invisible for six timeouts of their function.',
      expected: `visibility at least ${VISIBILITY_FACTOR} times the timeout`,
    },
    (settings) => {
      const { functions, queues } = settings;
      const mappings = read(settings);
      const wrong = mappings.flatMap((mapping) => {
        const queue = queues.find(({ name }) => name === mapping.queue);
        const reader = functions.find(({ name }) => name === mapping.function);
        if (queue === undefined || reader === undefined) return [`${mapping.id} has no queue or no function`];
        const least = reader.timeoutS * VISIBILITY_FACTOR;
        return queue.visibilityS >= least
          ? []
          : [`${queue.name}: ${queue.visibilityS} s, ${reader.name} needs ${least} s`];
      });
      return finding(wrong, `${mappings.length} queues`);
    },
  ),
  setting(
    {
      id: 'mappings',
      area,
      stops: true,
      row: 'Each agent’s and each trigger’s queue is read.',
      expected: 'every mapping enabled; one for each agent',
    },
    (settings) => {
      const { functions, queues } = settings;
      const mappings = read(settings);
      const off = mappings.filter(({ enabled }) => !enabled).map(({ queue }) => `${queue} is not read`);
      const agents = new Set(functions.flatMap(({ variables }) => (variables[ENV.agents] ?? '').split(',')));
      const unread = [...agents].filter(
        (agent) =>
          agent !== '' &&
          queues.some(({ name }) => name.endsWith(`_${agent}`)) &&
          !mappings.some(({ queue }) => queue.endsWith(`_${agent}`)),
      );
      return finding(
        [...off, ...unread.map((agent) => `the queue of ${agent} has no reader`)],
        `${mappings.length} mappings enabled`,
      );
    },
  ),
  setting(
    {
      id: 'batches',
      area,
      row: 'Batch answers name failed messages; few read a queue.',
      expected: 'ReportBatchItemFailures, and a maximum concurrency',
    },
    (settings) =>
      finding(
        read(settings).flatMap(({ queue, reportsItemFailures, maxConcurrency }) => [
          ...(reportsItemFailures ? [] : [`${queue}: the whole batch comes back`]),
          ...(maxConcurrency === undefined ? [`${queue}: no maximum concurrency`] : []),
        ]),
        `${read(settings).length} mappings`,
      ),
  ),
  setting(
    {
      id: 'dead-letter-queues',
      area,
      row: 'Dead letters are kept for two weeks.',
      expected: 'a dead-letter queue of 14 days for each queue that is read',
    },
    (settings) => {
      const { queues } = settings;
      const all = queues.filter(({ name }) => read(settings).some(({ queue }) => queue === name));
      const wrong = all.flatMap(({ name, deadLetters }) => {
        const dead = queues.find((queue) => queue.name === deadLetters);
        if (dead === undefined) return [`${name} has no dead-letter queue`];
        return dead.retentionS === TWO_WEEKS_S ? [] : [`${dead.name} keeps ${dead.retentionS} s`];
      });
      return finding(wrong, `${all.length} queues`);
    },
  ),
  setting(
    {
      id: 'indexes',
      area,
      stops: true,
      row: 'The table has every index.',
      expected: INDEXES.map(({ name, pk, sk }) => `${name} ${pk}/${sk}`).join(', '),
    },
    ({ table }) =>
      finding(
        INDEXES.flatMap(({ name, pk, sk }) => {
          const found = table.indexes[name];
          if (found === undefined) return [`${name} is missing`];
          return found === `${pk}/${sk}` ? [] : [`${name} has the keys ${found}`];
        }),
        `${Object.keys(table.indexes).length} indexes`,
      ),
  ),
  setting(
    {
      id: 'table-keeps',
      area,
      row: 'The table can be restored, and forgets what has expired.',
      expected: `point-in-time recovery, and expiry by ${TABLE.ttl}`,
    },
    ({ table }) =>
      finding(
        [
          ...(table.recovery ? [] : [`${table.name} has no point-in-time recovery`]),
          ...(table.expiresBy === TABLE.ttl
            ? []
            : [`${table.name} expires by ${table.expiresBy ?? 'nothing'}`]),
        ],
        table.name,
      ),
  ),
  setting(
    {
      id: 'rules',
      area: 'Supervision',
      stops: true,
      row: 'Enabled rules start supervisor and audit.',
      expected: 'rate(1 minute) with two targets, and a second rule',
    },
    (settings) => {
      const of = (is: (one: Settings['functions'][number]) => boolean): Settings['rules'] => {
        const names = settings.functions.filter(is).map(({ name }) => name);
        return settings.rules.filter(
          ({ expression, targets }) => expression !== '' && targets.some((target) => names.includes(target)),
        );
      };
      const ticks = of(isSupervisor).filter(
        ({ expression, targets }) => expression === 'rate(1 minute)' && targets.length >= 2,
      );
      const all = [...of(isSupervisor), ...of(isAudit)];
      return finding(
        [
          ...(ticks.length === 0 ? ['no rule starts supervisors every minute'] : []),
          ...(of(isAudit).length === 0 ? ['no rule starts the audit'] : []),
          ...all.filter(({ enabled }) => !enabled).map(({ name }) => `${name} is disabled`),
        ],
        all.map(({ expression }) => expression).join(', '),
      );
    },
  ),
  setting(
    {
      id: 'alarm-metrics',
      area: 'Observation and cost',
      row: 'Alarms and dashboard read metrics that exist.',
      expected: `in ${METRICS_NAMESPACE} only names of the code`,
    },
    ({ alarms, drawn }) => {
      const unknown = (name: string): boolean =>
        name.startsWith(`${METRICS_NAMESPACE}/`) && !(name.slice(METRICS_NAMESPACE.length + 1) in METRICS);
      return finding(
        [
          ...alarms.flatMap(({ name, metrics }) =>
            metrics.filter(unknown).map((metric) => `the alarm ${name} reads ${metric}`),
          ),
          ...drawn.filter(unknown).map((metric) => `the dashboard draws ${metric}`),
          ...(alarms.length === 0 ? ['there are no alarms'] : []),
        ],
        `${alarms.length} alarms, ${drawn.length} metrics drawn`,
      );
    },
  ),
  setting(
    {
      id: 'alarm-actions',
      area: 'Observation and cost',
      row: 'Each alarm goes to the topic.',
      expected: 'an action for each alarm',
    },
    ({ alarms }) =>
      finding(
        alarms.filter(({ actions }) => actions === 0).map(({ name }) => `${name} reaches nobody`),
        `${alarms.length} alarms`,
      ),
  ),
  setting(
    {
      id: 'subscribers',
      area: 'Observation and cost',
      stops: true,
      row: 'The alarms’ topic has a confirmed subscriber.',
      expected: 'at least one',
    },
    ({ subscribers }) =>
      finding(
        subscribers > 0 ? [] : ['nobody is subscribed to the alarms’ topic: set alarmTopic or alarmEmail'],
        `${subscribers} subscribed`,
      ),
  ),
  setting(
    {
      id: 'log-settings',
      area: 'Observation and cost',
      row: 'Each function logs JSON into a group of its own.',
      expected: 'JSON, and a named log group',
    },
    (settings) =>
      finding(
        ours(settings).flatMap(({ name, logFormat, logGroup }) =>
          logFormat === 'JSON' && logGroup !== '' ? [] : [`${name} logs ${logFormat} into '${logGroup}'`],
        ),
        `${ours(settings).length} functions`,
      ),
  ),
];
