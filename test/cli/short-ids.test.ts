/** Naming an execution by a unique beginning or end of its id, and the message if it is not unique. */

import { type Answer, eachFakeApi, steadfast } from './fake-api.ts';

const api = eachFakeApi();

const ADA = 'ba9b33be0931126a20f133d67c2b018a';
const BOB = 'ba9b44440931126a20f133d6018a7c2b';
const ok = (body: unknown): Answer => ({ status: 200, body });
const none = (id: string): Answer => ({
  status: 404,
  body: { error: { code: 'unknown-execution', message: `there is no execution '${id}'` } },
});
const summary = (executionId: string) => ({
  executionId,
  workflow: 'order',
  status: 'running',
  startedAt: 1,
});
/** The answers to the three lists: latest, open, ended without success. */
const lists = (...ids: readonly string[]): readonly Answer[] =>
  [ids, ids.slice(0, 1), []].map((each) => ok({ items: each.map(summary), orderedBy: 'startedAt' }));
const cli = (...args: readonly string[]) => steadfast([...args, '--url', api.url, '--json']);
const asked = (): string[] => api.asked.map(({ method, path }) => `${method} ${path}`);

const SEARCH = ['', 'status=open&', 'status=bad&'].map((filter) => `GET /executions?${filter}limit=100`);

it.each([
  [['cancel', 'BA9B33BE'], `POST /executions/${ADA}/cancel`],
  [['retry', 'ba9b33'], `POST /executions/${ADA}/retry`],
  [['send', 'ba9b33', 'paid'], `POST /executions/${ADA}/messages`],
  [['show', 'ba9b3'], `GET /executions/${ADA}`],
  [['show', '7C2B018A'], `GET /executions/${ADA}`],
  [['show', '018a'], `GET /executions/${ADA}`],
  [['show', '7c2b018a.rooms.1'], `GET /executions/${ADA}.rooms.1`],
  [['show', 'ba9b3.rooms.1'], `GET /executions/${ADA}.rooms.1`],
  [['resolve', 'ba9b3', '1', '--choice', 'retry'], `POST /executions/${ADA}/incidents/1/resolve`],
])('%j is obeyed for the one execution whose id begins or ends so', async (line, wanted) => {
  api.answers.push(
    none('it'),
    ...lists(ADA, BOB),
    ok({ executionId: ADA, status: 'running', steps: [], incidents: [], order: 1 }),
  );
  expect((await cli(...line)).exitCode).toBe(0);
  expect(asked().slice(1, 4).toSorted()).toEqual(SEARCH.toSorted());
  expect(asked().at(-1)).toBe(wanted);
});

it('names those that begin or end so where there are several, and does nothing', async () => {
  api.answers.push(none('ba9b'), ...lists(ADA, BOB));
  const { exitCode, err } = await cli('cancel', 'ba9b');
  expect(exitCode).toBe(1);
  expect(JSON.parse(err)).toEqual({
    error: {
      code: 'ambiguous-id',
      message: `'ba9b' begins or ends the ids of 2 executions: ${ADA} (order, running), ${BOB} (order, running). Give more of it`,
      details: { executionIds: [ADA, BOB] },
    },
  });
  expect(asked().filter((one) => one.startsWith('POST'))).toEqual(['POST /executions/ba9b/cancel']);
});

it('says where it has looked where none does', async () => {
  api.answers.push(none('cafe'), ...lists(ADA));
  const { err } = await cli('why', 'cafe');
  expect(JSON.parse(err)).toMatchObject({
    error: {
      code: 'unknown-execution',
      message: expect.stringMatching(/^there is no execution 'cafe', and none of the latest 300, /),
    },
  });
});

it.each(['abc', 'no-hex', 'x'])('does not look for %s, which is too little or no beginning', async (id) => {
  api.answers.push(none(id));
  expect((await cli('why', id)).exitCode).toBe(1);
  expect(asked()).toHaveLength(1);
});

it('reads three pages of each list at most, and asks for an id that is known once', async () => {
  const more = ok({ items: [], orderedBy: 'startedAt', cursor: 'c' });
  api.answers.push(none('cafe'), ...Array.from({ length: 9 }, () => more));
  expect((await cli('why', 'cafe')).exitCode).toBe(1);
  expect(asked()).toHaveLength(10);
  api.asked.length = 0;
  api.answers.push(
    none('ba9b3'),
    ...lists(ADA),
    ok({ executionId: ADA, status: 'running', steps: [], incidents: [] }),
  );
  const ended = {
    executionId: ADA,
    workflow: 'order',
    status: 'succeeded',
    endedAt: 2,
    steps: [],
    incidents: [],
  };
  api.answers.push(ok(ended));
  expect((await cli('show', 'ba9b3', '--wait')).exitCode).toBe(0);
  expect(asked().slice(-2)).toEqual([`GET /executions/${ADA}?wait=1s`, `GET /executions/${ADA}`]);
});
