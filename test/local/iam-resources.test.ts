/** IAM's resource policies and their principals. */
import type { Context } from '../../local/iam/match.ts';
import type { StackPolicies } from '../../local/iam/stack-policies.ts';
import type { Json } from '../../local/template/json.ts';
import { allow, ask, FN, inline, none, QUEUE, type Resources, stack, TABLE } from './policies.ts';

describe('the policy of a resource', () => {
  const queuePolicy = (...statements: Json[]): Resources => ({
    QueuePolicy: {
      Type: 'AWS::SQS::QueuePolicy',
      Properties: { Queues: [{ Ref: 'Queue' }], PolicyDocument: { Statement: statements } },
    },
  });
  const send = (policies: StackPolicies, context: Context = {}, who = 'Fn'): string =>
    ask(policies, 'sqs:SendMessage', QUEUE, context, who);

  it.each<[string, Json, boolean]>([
    ['everyone', '*', true],
    ['everyone, the long way', { AWS: '*' }, true],
    ['the role', { AWS: { 'Fn::GetAtt': ['Role', 'Arn'] } }, true],
    ['the role’s session', { AWS: 'arn:aws:sts::000000000000:assumed-role/Shop-Role/Shop-Fn' }, true],
    ['another role', { AWS: 'arn:aws:iam::000000000000:role/Other' }, false],
    // Naming the account leaves the decision to the role's own policies, which allow nothing here.
    ['the account', { AWS: 'arn:aws:iam::000000000000:root' }, false],
    ['a service', { Service: 'events.amazonaws.com' }, false],
  ])('that allows %s', (_, Principal, expected) => {
    const policies = stack({}, queuePolicy(allow('sqs:SendMessage', '*', { Principal })));
    expect(send(policies)).toBe(expected ? 'yes' : none('sqs:SendMessage'));
  });

  it.each<[string, Json, boolean]>([
    ['everyone', { AWS: '*' }, true],
    ['the account', { AWS: '000000000000' }, true],
    ['another account', { AWS: '123456789012' }, false],
  ])('that denies %s', (_, Principal, isDenied) => {
    const policies = stack(
      inline(allow('*')),
      queuePolicy({ Effect: 'Deny', Action: 'sqs:*', Resource: '*', Principal }),
    );
    expect(send(policies)).toBe(isDenied ? 'with an explicit deny in a resource-based policy' : 'yes');
  });

  it('that denies what is not encrypted denies exactly that', () => {
    const condition = { Condition: { Bool: { 'aws:SecureTransport': 'false' } }, Principal: { AWS: '*' } };
    const policies = stack(
      inline(allow('*')),
      queuePolicy({ Effect: 'Deny', Action: 'sqs:*', Resource: '*', ...condition }),
    );
    expect(send(policies)).toBe('yes');
    expect(send(policies, { 'aws:securetransport': ['false'] })).toMatch(/explicit deny/);
  });

  it('with NotPrincipal refuses', () => {
    const policies = stack(
      inline(allow('*')),
      queuePolicy({ Effect: 'Deny', Action: 'sqs:*', Resource: '*', NotPrincipal: { AWS: 'x' } }),
    );
    expect(send(policies)).toMatch(/NotPrincipal is not known here \(QueuePolicy\.Statement\[0\]\)/);
  });

  it('lets a service in for the source it names', () => {
    const source = 'arn:aws:events:us-east-1:000000000000:rule/done';
    const statement = allow('sqs:SendMessage', '*', {
      Principal: { Service: 'events.amazonaws.com' },
      Condition: { ArnEquals: { 'aws:SourceArn': source } },
    });
    const policies = stack({}, queuePolicy(statement));
    const from = (arn: string, who = 'events.amazonaws.com'): string =>
      send(policies, { 'aws:sourcearn': [arn] }, who);
    const refused = 'because no resource-based policy allows the sqs:SendMessage action';
    expect([from(source), from(`${source}2`), from(source, 'sns.amazonaws.com')]).toEqual([
      'yes',
      refused,
      refused,
    ]);
  });

  it.each<[string, Resources, string, string]>([
    [
      'a function',
      {
        P: {
          Type: 'AWS::Lambda::Permission',
          Properties: {
            Action: 'lambda:InvokeFunction',
            FunctionName: { Ref: 'Fn' },
            Principal: 'events.amazonaws.com',
            SourceAccount: '000000000000',
          },
        },
      },
      'lambda:InvokeFunction',
      FN,
    ],
    [
      'a bus',
      {
        P: {
          Type: 'AWS::Events::EventBusPolicy',
          Properties: {
            StatementId: 's',
            Statement: {
              Effect: 'Allow',
              Action: 'events:PutEvents',
              Principal: { Service: 'events.amazonaws.com' },
            },
          },
        },
      },
      'events:PutEvents',
      'arn:aws:events:us-east-1:000000000000:event-bus/default',
    ],
    [
      'a table',
      {
        Table: {
          Type: 'AWS::DynamoDB::Table',
          Properties: {
            ResourcePolicy: {
              PolicyDocument: {
                Statement: [allow('dynamodb:Query', '*', { Principal: { Service: 'events.amazonaws.com' } })],
              },
            },
          },
        },
      },
      'dynamodb:Query',
      `${TABLE}/index/due`,
    ],
    [
      'a bucket',
      {
        P: {
          Type: 'AWS::S3::BucketPolicy',
          Properties: {
            Bucket: 'files',
            PolicyDocument: {
              Statement: [allow('s3:GetObject', '*', { Principal: { Service: 'events.amazonaws.com' } })],
            },
          },
        },
      },
      's3:GetObject',
      'arn:aws:s3:::files/a/b',
    ],
  ])('of %s', (_, resources, action, resource) => {
    expect(ask(stack({}, resources), action, resource, {}, 'events.amazonaws.com')).toBe('yes');
    expect(ask(stack({}), action, resource, {}, 'events.amazonaws.com')).toMatch(/no resource-based policy/);
  });

  it('a permission with a property that is not known refuses', () => {
    const Properties = {
      Action: 'lambda:InvokeFunction',
      FunctionName: { Ref: 'Fn' },
      Principal: '*',
      PrincipalOrgID: 'o-1',
    };
    const policies = stack({}, { P: { Type: 'AWS::Lambda::Permission', Properties } });
    expect(ask(policies, 'lambda:InvokeFunction', FN, {}, 'events.amazonaws.com')).toMatch(
      /PrincipalOrgID is not known here/,
    );
  });
});
