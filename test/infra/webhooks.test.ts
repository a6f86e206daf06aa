/** Webhooks in the template: one public route, throttled, and a function with few permissions. */

import { onWebhook, type DeclaredTrigger } from '../../lib/author/triggers/trigger-declaration.ts';
import { hmacSha256 } from '../../lib/author/triggers/webhook.ts';
import { HttpJwtAuthorizer } from 'aws-cdk-lib/aws-apigatewayv2-authorizers';
import type { SteadfastStackProps } from '../../lib/infra/steadfast-stack.ts';
import { parseTrigger } from '../../lib/scheduler/trigger.ts';
import { FOUND } from './fixture.ts';
import { findingsOf, makeStack, Reader } from './template.ts';

const report = { name: 'report', input: { '~standard': {} }, callbacks: { signed: {} } } as const;
const secretOf = (where: object) => ({ kind: 'steadfast:secret', env: 'KEY', ...where }) as const;
const verifyBy = (where: object) => hmacSha256({ header: 'x-signature', secret: secretOf(where) });
const verify = verifyBy({ parameter: '/shop/hooks' });
const input = { key: '$.body.key' };
const ANSWERS = onWebhook(report, {
  name: 'answers',
  verify: verifyBy({ secretsManager: 'shop', field: 'hooks' }),
  answers: 'signed',
  output: '$.body',
});
const BOTH = [onWebhook(report, { verify, input }), ANSWERS];

const stackWith = (triggers: readonly DeclaredTrigger[], props: Partial<SteadfastStackProps> = {}) =>
  makeStack({
    ...props,
    workflows: {
      ...FOUND,
      triggers: triggers.map((trigger, at) => ({
        file: 'report/triggers.ts',
        exportName: `t${at}`,
        trigger,
      })),
    },
  });
const ROUTE = 'POST /webhooks/{proxy+}';
const stack = stackWith(BOTH);
const reader = new Reader(stack);
const openIn = (from: Reader): unknown[] =>
  from
    .ofType('AWS::ApiGatewayV2::Route')
    .filter(({ Properties }) => Properties['AuthorizationType'] === 'NONE')
    .map(({ Properties }) => Properties['RouteKey']);

test('one route is open, to a function of its own, and cdk-nag finds nothing', () => {
  expect(openIn(reader)).toEqual([ROUTE]);
  expect(findingsOf(stack)).toEqual([]);
  const integrations = reader
    .ofType('AWS::ApiGatewayV2::Integration')
    .filter(({ Properties }) =>
      JSON.stringify(Properties['IntegrationUri']).includes(reader.functionOf('Webhooks').id),
    );
  expect(integrations).toHaveLength(1);
  const route = reader.all.find(({ Properties }) => Properties?.['RouteKey'] === ROUTE);
  expect(JSON.stringify(route?.Properties['Target'])).toContain(integrations[0]?.id);
});

test('the open route alone is throttled, once it is there', () => {
  const [stage] = reader.ofType('AWS::ApiGatewayV2::Stage');
  expect(stage?.Properties['RouteSettings']).toEqual({
    [ROUTE]: { ThrottlingRateLimit: 50, ThrottlingBurstLimit: 100 },
  });
  const needed = (stage as unknown as { DependsOn: string[] }).DependsOn;
  const route = reader.all.find(({ Properties }) => Properties?.['RouteKey'] === ROUTE)?.id;
  expect(needed).toContain(route);
});

test('the function reads the declared secrets and sends to its queues: nothing else', () => {
  expect(reader.matrixOf('Webhooks').filter((line) => !line.startsWith('logs:'))).toEqual([
    expect.stringMatching(/^secretsmanager:GetSecretValue .*:secret:shop-\?{6}$/),
    'sqs:SendMessage TriggersanswersQueue',
    'sqs:SendMessage TriggersreportwebhookQueue',
    expect.stringMatching(/^ssm:GetParameter .*:parameter\/shop\/hooks$/),
  ]);
  const { NODE_OPTIONS: _, ...variables } = reader.environmentOf('Webhooks');
  expect(Object.keys(variables).sort()).toEqual(['STEADFAST_DEPLOYMENT', 'STEADFAST_WEBHOOK_QUEUES']);
});

test('what answers a callback may send to the agents of workflows that run its own', () => {
  const sends = (trigger: string): string[] =>
    reader.matrixOf(`Triggers/${trigger}`).filter((line) => /sqs:SendMessage Agents/.test(line));
  expect(sends('report-webhook')).toHaveLength(1);
  const { workflows } = FOUND;
  const parent = { ...workflows[0]!, agents: ['pay', 'ship', 'mail'] };
  const found = { ...FOUND, workflows: [parent, workflows[1]!] };
  const other = new Reader(
    makeStack({
      workflows: { ...found, triggers: [{ file: 'f', exportName: 't', trigger: ANSWERS }] },
    }),
  );
  expect(
    other.matrixOf('Triggers/answers').filter((line) => /sqs:SendMessage Agents/.test(line)),
  ).toHaveLength(3);
});

test('with tokens for callers it is open as well, and without a webhook nothing is', () => {
  const authorizer = new HttpJwtAuthorizer('Tokens', 'https://login.example', { jwtAudience: ['steadfast'] });
  expect(openIn(new Reader(stackWith(BOTH, { authorizer })))).toEqual([ROUTE]);
  const none = new Reader(stackWith([]));
  expect(openIn(none)).toEqual([]);
  const [stage] = none.ofType('AWS::ApiGatewayV2::Stage');
  expect(stage?.Properties['RouteSettings']).toBeUndefined();
  expect(() => none.functionOf('Webhooks')).toThrow('0 resources');
});

test('is refused without an API, and without a place of its secret', () => {
  expect(() => stackWith(BOTH, { api: 'none' })).toThrow("with api: 'none' there is none: leave api out");
  expect(() => stackWith([onWebhook(report, { verify: verifyBy({}), input })])).toThrow(
    "trigger 'report-webhook': nothing says where the secret KEY lies: write secret('KEY', { parameter: '/…' })",
  );
  expect(() => stackWith([onWebhook(report, { verify, input: { key: '$.headers.kind' } })])).toThrow(
    "'$.headers.kind' is not in events of this kind; $ has body, hash, token",
  );
  expect(() => parseTrigger('{"name":"a","workflow":"b","from":"web","input":{},"key":[]}')).toThrow(
    'the settings of the trigger are not valid',
  );
});
