/** Without a public API, callers with a grant invoke the scheduler's function directly. */

import { HttpIamAuthorizer } from 'aws-cdk-lib/aws-apigatewayv2-authorizers';
import { AccountPrincipal, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { ENV } from '../../lib/aws/names.ts';
import type { SteadfastProps } from '../../lib/infra/steadfast-props.ts';
import { FOUND } from './fixture.ts';
import { makeStack, Reader, statementsIn } from './template.ts';

const DIRECT = { api: 'none' } as const;

test('nothing of an API is in the template, and the function knows that nobody vouches for callers', () => {
  const [with_, without] = [makeStack(), makeStack(DIRECT)];
  const readers = [with_, without].map((stack) => new Reader(stack));
  const types = readers.map(({ all }) => all.filter(({ Type }) => Type.startsWith('AWS::ApiGateway')).length);
  expect(types).toEqual([expect.any(Number), 0]);
  expect(types[0]).toBeGreaterThan(30);
  const direct = readers.map((reader) => reader.environmentOf('Scheduler')[ENV.direct]);
  expect(direct).toEqual([undefined, 'true']);
  const outputs = readers.map(({ template }) => Object.keys(template.toJSON()['Outputs'] as object));
  expect(outputs[0]).toContain('ApiUrl');
  expect(outputs[1]).toContain('SchedulerName');
  expect(outputs[1]).not.toContain('ApiUrl');
  expect(JSON.stringify(readers[1]?.template.toJSON())).not.toContain('execute-api');
});

test('all calls are granted together, in other accounts too, and a part of them is refused', () => {
  const stack = makeStack(DIRECT);
  const { steadfast } = stack;
  const shop = new Role(stack, 'Shop', { assumedBy: new ServicePrincipal('lambda.amazonaws.com') });
  steadfast.grantInvoke(shop);
  steadfast.grantInvoke(new AccountPrincipal('222222222222'));
  for (const grant of ['grantStart', 'grantRun', 'grantSend', 'grantErase'] as const)
    expect(() => steadfast[grant](shop)).toThrow(
      /with api: 'none' a function of Lambda takes all calls .* use grantInvoke/,
    );
  const reader = new Reader(stack);
  const [policy] = reader.ofType('AWS::IAM::Policy').filter(({ id }) => id.startsWith('Shop'));
  expect(statementsIn(policy!).map(({ Action }) => Action)).toEqual(['lambda:InvokeFunction']);
  expect(reader.ofType('AWS::Lambda::Permission').map(({ Properties }) => Properties['Principal'])).toContain(
    '222222222222',
  );
});

test.each<[string, Partial<SteadfastProps>, RegExp]>([
  ['an authorizer', { authorizer: new HttpIamAuthorizer() }, /^authorizer: with api: 'none' there is no API/],
  ['persons', { personalRoles: ['Ops'], throttle: { rateLimit: 1 } }, /^personalRoles, throttle: with api/],
])('%s of no API is refused', (_, props, message) => {
  expect(() => makeStack({ ...DIRECT, ...props })).toThrow(message);
});

test('another kind of API is refused, and an approval by another person where nobody says who calls', () => {
  expect(() => makeStack({ api: 'rest' as never })).toThrow("api is 'rest'; allowed: 'http' and 'none'");
  const workflows = {
    ...FOUND,
    workflows: FOUND.workflows.map((one) => ({ ...one, asksAnother: true as const })),
  };
  expect(() => makeStack({ ...DIRECT, workflows })).toThrow(
    /has an approval that must be another person's .* with api: 'none' nobody says who calls/,
  );
});
