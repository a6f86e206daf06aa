/**
 * The dashboard: the questions it answers, the charts that it shares with the console, and those of each
 * workflow and agent.
 */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DETAILED_CHARTS, CHARTS, QUEUE_CHARTS } from '../../lib/aws/charts.ts';
import { DETAILED_METRICS } from '../../lib/aws/names.ts';
import { FOUND } from './fixture.ts';
import { makeStack, Reader } from './template.ts';
import { drawnIn, widgetsOf } from './widgets.ts';

const reader = new Reader(makeStack());
const widgets = widgetsOf(reader);
const drawn = (namespace: string): unknown[][] => drawnIn(widgets, namespace);

describe('the dashboard', () => {
  test('answers four questions in the order in which they are asked', () => {
    const headings = widgets
      .filter(({ type }) => type === 'text')
      .map(({ properties }) => properties['markdown'])
      .filter((text) => String(text).startsWith('## '));
    expect(headings).toEqual([
      '## Is it healthy?',
      '## What is at risk?',
      '## What is slow?',
      '## What does it cost?',
    ]);
  });

  test('draws each chart that the console draws, from the same metrics', () => {
    const titles = widgets.map(({ properties }) => String(properties['title']));
    const lines = Object.values(CHARTS).flat();
    expect(lines.length).toBeGreaterThan(7);
    for (const { title, lines: drawnLines } of lines) {
      const graph = widgets[titles.indexOf(title)];
      const metrics = graph?.properties.metrics ?? [];
      for (const line of drawnLines) {
        const names = 'metric' in line ? [line.metric] : [line.part, ...line.of];
        for (const name of names)
          expect([title, metrics.some((one) => one[1] === name)]).toEqual([title, true]);
      }
    }
    for (const { title } of QUEUE_CHARTS) expect(titles).toContain(`${title}, by agent`);
  });

  test('writes a share of the ends as an expression of their sums', () => {
    const graph = widgets.find(({ properties }) => properties['title'] === 'Success rate, %')!;
    const [expression, ...metrics] = graph.properties.metrics!;
    expect(expression).toEqual([
      expect.objectContaining({
        expression:
          '100 * FILL(part0, 0) / (FILL(part0, 0) + FILL(of0_0, 0) + FILL(of0_1, 0) + FILL(of0_2, 0))',
      }),
    ]);
    const ids = metrics.map((metric) => [metric[1], (metric.at(-1) as { id: string }).id]);
    expect(Object.fromEntries(ids)).toEqual({
      Succeeded: 'part0',
      Failed: 'of0_0',
      Compensated: 'of0_1',
      Canceled: 'of0_2',
    });
  });

  test('divides the messages of all agents’ queues by the steps', () => {
    const graph = widgets.find(({ properties }) => properties['title'] === 'Messages for each step done')!;
    const metrics = graph.properties.metrics!;
    const expressions = metrics.flatMap(([first]) => (first as { expression?: string }).expression ?? []);
    expect(expressions).toEqual(
      expect.arrayContaining(['messages / steps', 'SUM([sent0, sent1, sent2, sent3])']),
    );
    const ofQueues = metrics.filter(([namespace]) => namespace === 'AWS/SQS');
    expect(ofQueues.map(([, name]) => name)).toEqual(Array.from({ length: 4 }, () => 'NumberOfMessagesSent'));
  });

  // Names and causes are in the table; the API shows them.
  test.each([
    [
      'whether it is healthy: sweeps, what is overdue, agents that are missing',
      ['Sweeps', 'OldestOverdue', 'AgentsMissing'],
    ],
    ['how many got into risk', ['AtRisk']],
    ['how many people are waited for', ['OpenIncidents', 'OpenEntries']],
    ['how many ended other than well', ['Failed', 'Compensated', 'Canceled']],
    ['whose service is away', ['OpenBreakers', 'BreakersOpened']],
    ['whether it is slow', ['TimeToClaim', 'TimeToDetect', 'TimeToRecover']],
    ['whether the audit runs', ['AuditAge']],
    ['what it costs', ['StepsDone']],
  ])('answers what the first view of the console does: %s', (_, names) => {
    expect(drawn('Steadfast').map(([name]) => name)).toEqual(expect.arrayContaining(names));
  });

  test('has of each agent the depth and the age of its queue, and in a saved query of the logs who fails', () => {
    const queues = new Set(drawn('AWS/SQS').map(([name]) => name));
    expect(queues).toEqual(
      new Set([
        'ApproximateAgeOfOldestMessage',
        'ApproximateNumberOfMessagesVisible',
        'NumberOfMessagesSent',
      ]),
    );
    const [saved] = reader.ofType('AWS::Logs::QueryDefinition').map(({ Properties }) => Properties);
    expect(saved?.['QueryString']).toMatch(/sum\(StepsFailed\).*sum\(BreakersOpened\).* by agent/);
    expect(widgets.map(({ properties }) => String(properties['markdown']))).toContainEqual(
      expect.stringContaining(String(saved?.['Name'])),
    );
  });

  test('queries no logs, which each of its refreshes would be charged for', () => {
    expect(widgets.filter(({ type }) => type === 'log')).toEqual([]);
  });

  test('shows the state of every alarm', () => {
    const states = widgets.find(({ type }) => type === 'alarm')!;
    expect(states.properties['alarms']).toHaveLength(reader.ofType('AWS::CloudWatch::Alarm').length);
  });
});

describe('metrics by workflow and by agent', () => {
  const detailed = makeStack({ metricsBy: ['workflow', 'agent'] });
  const all = widgetsOf(new Reader(detailed));
  /** The metrics with this dimension, as name and value. */
  const of = (by: string): unknown[][] =>
    all
      .flatMap(({ properties }) => properties.metrics ?? [])
      .filter((metric) => metric.includes(by))
      .map((metric) => [metric[1], metric[metric.indexOf(by) + 1]]);

  test('are drawn of each one, by the names that are emitted; every function knows that they are asked for', () => {
    const { workflows } = FOUND;
    expect(new Set(of('workflow').map(([, value]) => value))).toEqual(
      new Set(workflows.map(({ name }) => name)),
    );
    expect(new Set(of('agent').map(([, value]) => value))).toEqual(new Set(detailed.steadfast.agents.keys()));
    for (const by of ['workflow', 'agent'] as const)
      for (const [name] of of(by)) expect(Object.keys(DETAILED_METRICS[by])).toContain(name);
    for (const path of ['Scheduler', 'Supervisor', 'Agents/pay'])
      expect(new Reader(detailed).environmentOf(path)['STEADFAST_METRICS_BY']).toBe('workflow,agent');
  });

  test('are drawn as the console draws them', () => {
    const titles = all.map(({ properties }) => properties['title']);
    for (const by of ['workflow', 'agent'] as const)
      for (const { title } of DETAILED_CHARTS[by]) expect(titles).toContain(`${title}, by ${by}`);
  });

  test('are absent unless asked for, and their price is stated', () => {
    expect(drawn('Steadfast').every((metric) => metric.length === 3)).toBe(true);
    expect(reader.environmentOf('Scheduler')).not.toHaveProperty('STEADFAST_METRICS_BY');
    expect(widgets.some(({ properties }) => String(properties['title']).includes('by workflow'))).toBe(false);
    const guide = readFileSync(join(import.meta.dirname, '..', '..', 'docs', 'COST.md'), 'utf8');
    const [workflow, agent] = [DETAILED_METRICS.workflow, DETAILED_METRICS.agent].map(
      (names) => Object.keys(names).length,
    ) as [number, number];
    expect(guide).toContain(`asks for them: ${workflow} names and ${agent} at 0.30`);
    expect(guide).toContain(
      `${(workflow * 0.3).toFixed(1)} a workflow, ${(agent * 0.3).toFixed(1)} an agent`,
    );
  });
});
