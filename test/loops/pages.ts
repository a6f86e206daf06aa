/** Loops over pages of S3, DynamoDB, Athena and others, and over the pages' items. */

import { exists, gt, matches, not, orElse, required, type Workflow, workflow } from 'steadfast';
import * as z from 'zod/mini';
import { Empty, type Loop, Services, Text } from './loop.ts';

const Token = z.object({ token: z.optional(Text) });
const Keys = z.object({ keys: z.array(Text) });
const Page = z.object({ keys: z.array(Text), token: z.optional(Text) });
const Key = z.object({ key: Text });
type Paged = z.infer<typeof Token>;

/** Returns a page: there are three, of two keys each. */
const page = ({ token = '1' }: Paged): z.infer<typeof Page> => ({
  keys: [`a${token}`, `b${token}`],
  ...(token === '3' ? {} : { token: String(Number(token) + 1) }),
});

/** A workflow of rounds until a page has no token. */
const overPages = (round: Workflow<Paged, Paged>): Workflow<object> =>
  workflow(`${round.name}s`, { input: Empty, within: '1d' }, (w) => {
    w.repeat(
      'pages',
      round,
      {},
      {
        until: (last) => not(exists(last.token)),
        next: (last) => ({ token: required(last.token) }),
        maxRounds: 500,
      },
    );
  });

const ROUND = { input: Token, within: '2h' } as const;

/** For each page, one call for all its items. */
async function inOne(list: string, act: string) {
  const services = new Services();
  const lists = services.agent(list, Token, Page, page);
  const acts = services.agent(act, Keys, Empty, () => ({}));
  const round = workflow('page', ROUND, (w) => {
    const { output } = w.step('list', lists, { token: w.input.token });
    w.step('act', acts, { keys: output.keys });
    return { token: output.token };
  });
  return services.play(overPages(round), {});
}

/** For each page, one call for each item. */
async function oneByOne(list: string, act: string, concurrency = 40) {
  const services = new Services();
  const lists = services.agent(list, Token, Page, page);
  const acts = services.agent(act, Key, Empty, () => ({}));
  const round = workflow('page', ROUND, (w) => {
    const { output } = w.step('list', lists, { token: w.input.token });
    w.map('each', acts, output.keys, (key) => ({ key }), { concurrency });
    return { token: output.token };
  });
  return services.play(overPages(round), {});
}

/** For each page, two steps for each item. */
async function inTwoSteps(list: string, read: string, write: string) {
  const services = new Services();
  const lists = services.agent(list, Token, Page, page);
  const reads = services.agent(read, Key, Key, (input) => input);
  const writes = services.agent(write, Key, Empty, () => ({}));
  const each = workflow('each', { input: Key, within: '1h' }, (w) => {
    w.step('write', writes, w.step('read', reads, w.input).output);
  });
  const round = workflow('page', ROUND, (w) => {
    const { output } = w.step('list', lists, { token: w.input.token });
    w.map('all', each, output.keys, (key) => ({ key }), { concurrency: 1 });
    return { token: output.token };
  });
  return services.play(overPages(round), {});
}

/** Each page is one call of an agent. */
async function agentAlone() {
  const services = new Services();
  const lists = services.agent('list', Token, Page, page);
  const pages = workflow('pages', { input: Empty, within: '1d' }, (w) => {
    w.repeat(
      'list',
      lists,
      {},
      {
        until: (last) => not(exists(last.token)),
        next: (last) => ({ token: required(last.token) }),
        maxRounds: 500,
      },
    );
  });
  return services.play(pages, {});
}

const Names = z.object({ names: z.array(Text), marker: z.optional(Text) });
const Versions = z.object({ name: Text, count: z.int() });

/**
 * A loop in a loop: for each matching function of each page, deletes the oldest version until three are left.
 */
async function oldVersions() {
  const services = new Services();
  const lists = services.agent('list', Token, Names, ({ token }) =>
    token === undefined ? { names: ['app-1', 'other'], marker: 'm' } : { names: ['app-2'] },
  );
  const counts = services.agent('count', Key, Versions, ({ key }) => ({ name: key, count: 5 }));
  const deletes = services.agent('delete', Versions, Versions, ({ name, count }) => ({
    name,
    count: count - 1,
  }));
  const cleanup = workflow('cleanup', { input: Key, within: '1h' }, (w) => {
    const fits = matches(w.input.key, 'app-*');
    const counted = w.step('count', counts, w.input, { when: fits });
    const first = { name: orElse(counted.output.name, ''), count: orElse(counted.output.count, 0) };
    w.repeat('oldest', deletes, first, {
      when: gt(orElse(counted.output.count, 0), 3),
      until: (last) => not(gt(last.count, 3)),
      next: (last) => last,
      maxRounds: 100,
    });
  });
  const round = workflow('page', ROUND, (w) => {
    const { output } = w.step('list', lists, { token: w.input.token });
    w.map('functions', cleanup, output.names, (key) => ({ key }), { concurrency: 1 });
    return { token: output.marker };
  });
  return services.play(overPages(round), {});
}

const From = z.object({ offset: z.int(), limit: z.int() });
const Rows = z.object({ rows: z.int(), offset: z.int() });

/** Pages by offset. The last page is not full; an empty one adds no output. */
async function byOffset() {
  const services = new Services();
  const gets = services.agent('get', From, Rows, ({ offset }) => ({
    rows: offset < 20 ? 10 : 0,
    offset: offset + 10,
  }));
  const puts = services.agent('put', Rows, Empty, () => ({}));
  const part = workflow('part', { input: From, within: '1h' }, (w) => {
    const got = w.step('get', gets, w.input);
    w.step('put', puts, got.output, { when: gt(got.output.rows, 0) });
    return got.output;
  });
  const parts = workflow('parts', { input: From, within: '1d' }, (w) => {
    w.repeat('parts', part, w.input, {
      until: (last, given) => gt(given.limit, last.rows),
      next: (last, given) => ({ offset: last.offset, limit: given.limit }),
      maxRounds: 500,
    });
  });
  return services.play(parts, { offset: 0, limit: 10 });
}

/** A `for` over items, written as a list. */
async function forEach() {
  const services = new Services();
  const reads = services.agent('read', Key, Key, (input) => input);
  const sends = services.agent('send', Key, Empty, () => ({}));
  const each = workflow('each', { input: Key, within: '1h' }, (w) => {
    w.step('send', sends, w.step('read', reads, w.input).output);
  });
  const all = workflow('all', { input: Keys, within: '1d' }, (w) => {
    w.map('all', each, w.input.keys, (key) => ({ key }), { concurrency: 1 });
  });
  return services.play(all, { keys: ['a', 'b'] });
}

const EXAMPLES = 'aws-stepfunctions-examples/sam';
const COLLECTION = 'step-functions-workflows-collection';
const thrice = (calls: string): string => [calls, calls, calls].join(' ');

export const PAGES: readonly Loop[] = [
  {
    from: `${EXAMPLES}/demo-distributed-map-data-processing/statemachines/copy-noaa-data-us-east-1.asl.json`,
    states: ['Distributed S3 copy', 'Has next page?', 'ListObjectsV2 with pagination'],
    play: () => oneByOne('list', 'copy'),
    calls: thrice('list copy copy'),
  },
  {
    from: `${EXAMPLES}/demo-distributed-map-data-processing/statemachines/delete-s3-data.asl.json`,
    states: ['Delete Objects', 'Has next page?', 'ListObjectsV2 with pagination'],
    play: () => inOne('list', 'delete'),
    calls: thrice('list delete'),
  },
  {
    from: `${EXAMPLES}/util-sfntoolkit/template.yaml`,
    states: ['PutObject', 'Choice', 'Get Paged Batch'],
    play: () => inOne('list', 'put-batch'),
    calls: thrice('list put-batch'),
  },
  {
    from: `${COLLECTION}/dynamodb-migrations/statemachine/statemachine.asl.json`,
    states: ['Iterate through items', 'Look for a pagination token', 'Get the next set of records'],
    play: () => inTwoSteps('scan', 'migrate', 'put'),
    calls: thrice('scan migrate put migrate put'),
  },
  {
    from: `${COLLECTION}/dynamodb-transfer/statemachine/statemachine.asl.json`,
    states: ['Iterate through items', 'Look for a pagination token', 'Get the next set of records'],
    play: () => inTwoSteps('scan', 'transfer', 'add'),
    calls: thrice('scan transfer add transfer add'),
  },
  {
    from: `${COLLECTION}/eventbridge-rules-to-schedules/statemachine/statemachine.asl.json`,
    states: ['Process Rules', 'for Rule in Rules', 'Check NextToken'],
    play: () => oneByOne('rules', 'create-schedule'),
    calls: thrice('rules create-schedule create-schedule'),
  },
  {
    from: `${COLLECTION}/pagination-loop/statemachine/statemachine.asl.json`,
    states: ['more results?', 'List Executions nextPage'],
    play: agentAlone,
    calls: thrice('list'),
  },
  {
    from: `${COLLECTION}/resource-configuration-backup-sam/statemachine/statemachine.asl.json`,
    states: ['MapResolverRulesAndAssociations', 'Choice', 'ListAggregateDiscoveredResources-Pagination'],
    play: () => inTwoSteps('list', 'get-config', 'write'),
    calls: thrice('list get-config write get-config write'),
  },
  {
    from: `${COLLECTION}/sfn-athena-query/statemachine/statemachine.asl.json`,
    states: ['Get Query Results', 'Map State', 'Has More Results?', 'Prepare Next Query Params'],
    play: () => oneByOne('results', 'row', 1),
    calls: thrice('results row row'),
  },
  {
    from: `${COLLECTION}/step-functions-athena-glue-sam/athenaquery.asl.json`,
    states: [
      'Map State',
      'Has More Results?',
      'Prepare Next Query Params',
      'Get Query Results with NextToken',
    ],
    play: () => oneByOne('results', 'process', 1),
    calls: thrice('results process process'),
  },
  {
    from: `${COLLECTION}/step-functions-lambda-version-cleanup/statemachine/statemachine.asl.json`,
    states: ['Iterate Functions', 'More functions to process?', 'List more function names'],
    play: oldVersions,
    calls: 'list count delete delete list count delete delete',
  },
  {
    from: `${COLLECTION}/step-functions-lambda-version-cleanup/statemachine/statemachine.asl.json`,
    states: [
      'Check number of versions',
      'Delete oldest version',
      'Remove deleted version and decrement version count',
    ],
    play: oldVersions,
    calls: 'list count delete delete list count delete delete',
  },
  {
    from: `${COLLECTION}/distributed-data-stream-aggregator/statemachine/data-extraction-child.asl.json`,
    states: ['Get Data', 'Data count', 'PutObject', 'Check pagination'],
    play: byOffset,
    calls: 'get put get put get',
  },
  {
    from: `${COLLECTION}/transfer-data-records/statemachine/statemachine.asl.json`,
    states: [
      'For Loop Condition',
      'Read Next Message from DynamoDB',
      'Send Message to SQS',
      'Pop Element from List',
    ],
    play: forEach,
    calls: 'read send read send',
  },
];
