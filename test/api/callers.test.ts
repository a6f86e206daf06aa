/**
 * The recorded caller is the one in API Gateway's authorizer context (payload format 2.0), not a name in the
 * request.
 */

import { handle } from 'hono/aws-lambda';
import * as z from 'zod/mini';
import { routes } from '../../lib/api/routes.ts';
import { workflow } from '../../lib/author/builder/workflow.ts';
import type { Workflow } from '../../lib/core/plan/workflow.ts';
import { expectDescribed } from './described.ts';
import { harness, type Harness } from '../engine/harness.ts';

const flow = workflow('flow', { input: z.object({}), within: '3h' }, (w) => {
  w.approval('ok', { within: '1h', by: 'another' });
}) as Workflow;
const open = workflow('flow', { input: z.object({}), within: '3h' }, (w) => {
  w.approval('ok', { within: '1h' });
}) as Workflow;

interface Reply {
  readonly status: number;
  readonly body: Record<string, never>;
}

interface App extends Harness {
  readonly call: (
    method: string,
    path: string,
    authorizer?: unknown,
    body?: unknown,
    headers?: Record<string, string>,
  ) => Promise<Reply>;
}

/** Calls the app as Lambda does, with an event. */
function app(served: Workflow): App {
  const h = harness(served, {});
  const handler = handle(routes(h.scheduler));
  return {
    ...h,
    call: async (method, path, authorizer, body = {}, headers = {}) => {
      const event = {
        version: '2.0',
        routeKey: '$default',
        rawPath: path,
        rawQueryString: '',
        headers: { host: 'api.example', 'content-type': 'application/json', ...headers },
        requestContext: {
          http: { method, path, protocol: 'HTTP/1.1', sourceIp: '127.0.0.1', userAgent: '' },
          domainName: 'api.example',
          ...(authorizer === undefined ? {} : { authorizer }),
        },
        ...(method === 'GET' ? {} : { body: JSON.stringify(body) }),
        isBase64Encoded: false,
      };
      const { statusCode, body: text } = (await handler(event as never, {} as never)) as never;
      const answer = { status: statusCode, body: JSON.parse(text) as Reply['body'] };
      expectDescribed(method, path, answer.status, answer.body);
      return answer;
    },
  };
}

const START = '/workflows/flow/executions';
const iam = (userArn: unknown) => ({
  iam: { accessKey: 'AKIA', accountId: '1', callerId: 'x', cognitoIdentity: null, userArn, userId: 'x' },
});
const jwt = (claims: object) => ({ jwt: { claims, scopes: null } });
const ANN = 'arn:aws:iam::123456789012:user/ann';

describe('who starts', () => {
  it.each([
    ['a user', iam(ANN), { kind: 'iam', name: ANN }],
    [
      'a session of a role',
      iam('arn:aws:sts::123456789012:assumed-role/Ops/ann'),
      { kind: 'iam', name: 'arn:aws:sts::123456789012:assumed-role/Ops/ann' },
    ],
    [
      'the bearer of a token',
      jwt({ iss: 'https://login.example/', sub: 'auth0|7', aud: 'steadfast' }),
      { kind: 'jwt', name: 'https://login.example/ auth0|7' },
    ],
    ['a laptop', iam('arn:aws:iam::000000000000:user/local'), { kind: 'local', name: 'local' }],
    ['a name on a laptop', iam('arn:aws:iam::000000000000:user/ann'), { kind: 'local', name: 'ann' }],
    ['a name on a laptop with tokens', jwt({ iss: 'local', sub: 'ann' }), { kind: 'local', name: 'ann' }],
    ['a route without authorizer', undefined, undefined],
    ['an authorizer of one’s own', { lambda: { sub: 'ann', iss: 'me' } }, undefined],
    ['a token without a subject', jwt({ iss: 'https://login.example/' }), undefined],
    ['a token with a number as its subject', jwt({ iss: 'https://login.example/', sub: 7 }), undefined],
    ['an issuer in which a subject may hide', jwt({ iss: 'https://a b', sub: 'c' }), undefined],
  ])('is recorded of %s, and shown', async (_, authorizer, expected) => {
    const { call } = app(open);
    const { status, body } = await call('POST', START, authorizer, { input: {} });
    expect(status).toBe(202);
    const view = (await call('GET', `/executions/${String(body['executionId'])}`)).body;
    expect(view['startedBy']).toEqual(expected);
    expect((await call('GET', '/executions')).body['items']).toMatchObject([
      expected === undefined ? {} : { startedBy: expected },
    ]);
  });

  it.each([
    ['too long', `arn:aws:iam::123456789012:user/${'x'.repeat(700)}`],
    ['no plain text', 'arn:aws:iam::123456789012:user/\u001b[31m'],
  ])('that is %s cannot be recorded, and nothing is started', async (_, arn) => {
    const { call } = app(open);
    const { status, body } = await call('POST', START, iam(arn), { input: {} });
    expect([status, body['error']]).toMatchObject([403, { code: 'bad-caller' }]);
    expect((await call('GET', '/executions')).body['items']).toEqual([]);
  });
});

describe('a name of the caller’s own', () => {
  it('in a header is refused, wherever a caller is recorded', async () => {
    const { call } = app(open);
    const { body } = await call('POST', START, iam(ANN), { input: {} });
    const id = String(body['executionId']);
    for (const path of [
      START,
      ...['cancel', 'pause', 'resume', 'retry', 'incidents/1/resolve'].map(
        (one) => `/executions/${id}/${one}`,
      ),
      '/callbacks/x.y.z/complete',
    ]) {
      const given = path === START ? { input: {} } : path.endsWith('resolve') ? { choice: 'retry' } : {};
      const refused = await call('POST', path, iam(ANN), given, { 'x-local-user': 'bob' });
      expect([path, refused.status, refused.body['error']]).toMatchObject([
        path,
        400,
        { code: 'bad-request', message: expect.stringContaining("the API's authorizer names the caller") },
      ]);
    }
  });

  it('in a body is refused, and the message says where it comes from instead', async () => {
    const { call } = app(open);
    for (const path of [START, '/executions/e-1/cancel', '/executions/e-1/incidents/1/resolve']) {
      const { status, body } = await call('POST', path, iam(ANN), { input: {}, choice: 'retry', by: 'bob' });
      expect([status, body['error']]).toMatchObject([
        400,
        {
          code: 'bad-request',
          message: expect.stringContaining("the API's authorizer names the caller"),
        },
      ]);
    }
  });
});

it('a callback that is answered twice alike says who answered first', async () => {
  const paid = workflow('flow', { input: z.object({}), within: '3h' }, (w) => {
    w.callback('paid', { output: z.object({}), within: '1h' });
  }) as Workflow;
  const h = app(paid);
  const id = String((await h.call('POST', START, iam(ANN), { input: {} })).body['executionId']);
  const { steps } = (await h.call('GET', `/executions/${id}`)).body as unknown as {
    steps: { token: string }[];
  };
  const person = (sub: string): unknown => jwt({ iss: 'https://login.example', sub });
  for (const sub of ['bob', 'carl'])
    expect(
      (await h.call('POST', `/callbacks/${steps[0]?.token}/complete`, person(sub), { output: {} })).body,
    ).toEqual({ status: 'completed', by: { kind: 'jwt', name: 'https://login.example bob' } });
});

describe('four eyes over HTTP', () => {
  const tokenOf = async ({ call }: App, id: string): Promise<string> => {
    const { body } = await call('GET', `/executions/${id}`);
    const { steps } = body as unknown as { steps: { token?: string }[] };
    return steps[0]?.token ?? '';
  };

  it('the starter’s own answer is 403 with who may give it; another’s is taken, and shown', async () => {
    const h = app(flow);
    const id = String((await h.call('POST', START, iam(ANN), { input: {} })).body['executionId']);
    const path = `/callbacks/${await tokenOf(h, id)}/complete`;
    const own = await h.call('POST', path, iam(ANN), { output: {} });
    expect([own.status, own.body['error']]).toMatchObject([
      403,
      { code: 'not-another', message: expect.stringContaining('The answering person must not have started') },
    ]);
    const other = jwt({ iss: 'https://login.example', sub: 'bob' });
    for (let times = 0; times < 2; times += 1)
      expect(await h.call('POST', path, other, { output: {} })).toEqual({
        status: 200,
        body: { status: 'completed', by: { kind: 'jwt', name: 'https://login.example bob' } },
      });
    const view = (await h.call('GET', `/executions/${id}`)).body;
    expect(view).toMatchObject({
      people: { [ANN]: 'started', 'jwt:https://login.example bob': `approved:${id}/ok` },
      steps: [{ name: 'ok', by: { kind: 'jwt', name: 'https://login.example bob' } }],
    });
    expect((await h.call('GET', '/workflows/flow')).body['steps']).toMatchObject([{ by: 'another' }]);
  });

  it('is refused to a caller whom nobody vouches for', async () => {
    const { call } = app(flow);
    const { status, body } = await call('POST', START, undefined, { input: {} });
    expect([status, body['error']]).toMatchObject([403, { code: 'unknown-caller' }]);
  });
});
