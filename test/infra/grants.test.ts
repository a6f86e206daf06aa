/** Every grant adds a permission, or is refused with advice. */

import { AccountPrincipal, AnyPrincipal, type IGrantable, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { Key } from 'aws-cdk-lib/aws-kms';
import { Stack } from 'aws-cdk-lib/core';
import { Steadfast } from '../../lib/infra/steadfast.ts';
import { FOUND } from './fixture.ts';
import { makeApp, Reader, statementsIn, type Statement } from './template.ts';

const HERE = '111111111111';
const THERE = '222222222222';
const TOPIC = `arn:aws:sns:us-east-1:${HERE}:orders`;

interface Deployed {
  readonly stack: Stack;
  readonly steadfast: Steadfast;
  readonly read: () => Reader;
}

function deployed(account?: string, withKey = false): Deployed {
  const stack = new Stack(
    makeApp(),
    'Test',
    account === undefined ? {} : { env: { account, region: 'us-east-1' } },
  );
  const key = withKey ? { encryptionKey: new Key(stack, 'Key') } : {};
  const steadfast = new Steadfast(stack, 'Steadfast', { workflows: FOUND, ...key });
  return { stack, steadfast, read: () => new Reader(stack) };
}

const roleOf = ({ stack }: Deployed, account: string): IGrantable =>
  Role.fromRoleArn(stack, `Role${account}`, `arn:aws:iam::${account}:role/shop`);

describe('sending to the queue of a trigger', () => {
  /** The statements of the queue's policy after a grant. */
  const allowedBy = (on: Deployed, grantee: IGrantable): Statement[] => {
    const intake = on.steadfast.startQueue('order', { name: 'intake' });
    expect(intake.grantSend(grantee).success).toBe(true);
    const policy = on.read().one('AWS::SQS::QueuePolicy', 'Triggers/intake/Queue/Policy');
    return statementsIn(policy).filter(({ Effect }) => Effect === 'Allow');
  };
  const sns = new ServicePrincipal('sns.amazonaws.com', {
    conditions: { ArnEquals: { 'aws:SourceArn': TOPIC } },
  });

  test('is granted to a service by the queue’s policy, on the condition that is given', () => {
    expect(allowedBy(deployed(), sns)).toMatchObject([
      {
        Action: 'sqs:SendMessage',
        Principal: { Service: 'sns.amazonaws.com' },
        Condition: { ArnEquals: { 'aws:SourceArn': TOPIC } },
      },
    ]);
  });

  test('is granted to another account, and to a role there', () => {
    expect(allowedBy(deployed(), new AccountPrincipal(THERE))).toMatchObject([
      { Action: 'sqs:SendMessage', Principal: { AWS: expect.anything() } },
    ]);
    const on = deployed(HERE);
    expect(JSON.stringify(allowedBy(on, roleOf(on, THERE)))).toContain(`arn:aws:iam::${THERE}:role/shop`);
  });

  test('is granted to a role of this account by its own policy alone', () => {
    const on = deployed();
    const role = new Role(on.stack, 'Shop', { assumedBy: new ServicePrincipal('ec2.amazonaws.com') });
    expect(allowedBy(on, role)).toEqual([]);
    const own = on
      .read()
      .ofType('AWS::IAM::Policy')
      .find(({ id }) => id.startsWith('Shop'));
    expect(statementsIn(own!)).toMatchObject([{ Action: 'sqs:SendMessage', Effect: 'Allow' }]);
  });

  test('with a key of your own lets them use the key as well', () => {
    const on = deployed(undefined, true);
    allowedBy(on, sns);
    const [key] = on.read().ofType('AWS::KMS::Key');
    const { KeyPolicy } = Object(key?.Properties) as { KeyPolicy: { Statement: { Principal: object }[] } };
    const ofSns = KeyPolicy.Statement.filter(({ Principal }) =>
      JSON.stringify(Principal).includes('sns.amazonaws.com'),
    );
    expect(ofSns).toMatchObject([{ Condition: { ArnEquals: { 'aws:SourceArn': TOPIC } } }]);
    expect(JSON.stringify(ofSns)).toContain('kms:GenerateDataKey');
  });

  test.each<[string, IGrantable]>([
    ['a service', new ServicePrincipal('sns.amazonaws.com')],
    ['anybody', new AnyPrincipal()],
  ])('is refused to %s without a condition', (_, grantee) => {
    const intake = deployed().steadfast.startQueue('order');
    expect(() => intake.grantSend(grantee)).toThrow(
      /acts for any account\. Give it a condition, such as .*aws:SourceArn/,
    );
  });
});

describe('calling the API', () => {
  const refusal =
    /only roles and users of its account can be granted calls\. Let it assume a role of this stack, or use an authorizer of tokens/;

  test.each<[string, IGrantable]>([
    ['a service', new ServicePrincipal('sns.amazonaws.com')],
    ['an account', new AccountPrincipal(THERE)],
  ])('is refused to %s, which it would grant nothing', (_, grantee) => {
    const { steadfast } = deployed();
    expect(() => steadfast.grantStart(grantee, 'order')).toThrow(refusal);
    expect(() => steadfast.grantInvoke(grantee)).toThrow(refusal);
  });

  test('is refused to a role of another account, where both are known', () => {
    const on = deployed(HERE);
    expect(() => on.steadfast.grantInvoke(roleOf(on, THERE))).toThrow(
      `the grantee is of account ${THERE}, the API of ${HERE}`,
    );
    expect(on.steadfast.grantInvoke(roleOf(on, HERE)).success).toBe(true);
  });

  test('is granted for the messages to executions of one workflow alone', () => {
    const on = deployed(HERE);
    const bank = new Role(on.stack, 'Bank', { assumedBy: new ServicePrincipal('ec2.amazonaws.com') });
    on.steadfast.grantSend(bank, 'order');
    const policy = on
      .read()
      .ofType('AWS::IAM::Policy')
      .find(({ id }) => id.startsWith('Bank'));
    const [statement, ...more] = statementsIn(policy!);
    expect(more).toEqual([]);
    expect(JSON.stringify(statement?.Resource)).toContain('/$default/POST/workflows/order/messages');
  });
});
