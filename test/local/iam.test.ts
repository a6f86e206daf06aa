/** IAM's decisions about requests, by the policies of small stacks. */
import type { Json } from '../../local/template/json.ts';
import { allow, ask, deny, FN, inline, none, QUEUE, stack, TABLE } from './policies.ts';

describe('actions and resources', () => {
  const arn = { 'Fn::GetAtt': ['Table', 'Arn'] };
  it.each<[string, Json, string, string, boolean]>([
    ['what is named', allow('dynamodb:PutItem', arn), 'dynamodb:PutItem', TABLE, true],
    ['another action', allow('dynamodb:PutItem', arn), 'dynamodb:DeleteItem', TABLE, false],
    ['another resource', allow('dynamodb:PutItem', arn), 'dynamodb:PutItem', `${TABLE}2`, false],
    ['an index of it', allow('dynamodb:Query', arn), 'dynamodb:Query', `${TABLE}/index/due`, false],
    ['letter case of an action', allow('DynamoDB:putitem', arn), 'dynamodb:PutItem', TABLE, true],
    ['a wildcard in the action', allow('dynamodb:*Item', arn), 'dynamodb:PutItem', TABLE, true],
    ['a wildcard that ends too early', allow('dynamodb:Put*X', arn), 'dynamodb:PutItem', TABLE, false],
    ['a question mark', allow('dynamodb:?utItem', arn), 'dynamodb:PutItem', TABLE, true],
    ['every action', allow('*', arn), 'dynamodb:PutItem', TABLE, true],
    ['another service', allow('sqs:*', '*'), 'dynamodb:PutItem', TABLE, false],
    [
      'a wildcard over a slash',
      allow('dynamodb:Query', 'arn:aws:dynamodb:*:*:table/*'),
      'dynamodb:Query',
      `${TABLE}/index/due`,
      true,
    ],
    [
      'a wildcard over a colon',
      allow('dynamodb:Query', 'arn:aws:dynamodb:*:table/Shop-Table'),
      'dynamodb:Query',
      TABLE,
      false,
    ],
    [
      'a dot is a dot',
      allow('dynamodb:Query', TABLE.replace('-Table', '.Table')),
      'dynamodb:Query',
      TABLE,
      false,
    ],
    ['an ARN that stops early', allow('dynamodb:Query', 'arn:aws:dynamodb'), 'dynamodb:Query', TABLE, true],
    [
      'no resource at all, asked by name',
      allow('dynamodb:ListTables', arn),
      'dynamodb:ListTables',
      '*',
      false,
    ],
    ['no resource at all', allow('dynamodb:ListTables'), 'dynamodb:ListTables', '*', true],
    [
      'NotAction',
      { Effect: 'Allow', NotAction: 'dynamodb:Delete*', Resource: '*' },
      'dynamodb:PutItem',
      TABLE,
      true,
    ],
    [
      'NotAction, named',
      { Effect: 'Allow', NotAction: 'dynamodb:Delete*', Resource: '*' },
      'dynamodb:DeleteItem',
      TABLE,
      false,
    ],
    ['NotResource', { Effect: 'Allow', Action: '*', NotResource: QUEUE }, 'dynamodb:PutItem', TABLE, true],
    [
      'NotResource, named',
      { Effect: 'Allow', Action: '*', NotResource: QUEUE },
      'sqs:SendMessage',
      QUEUE,
      false,
    ],
  ])('%s', (_, statement, action, resource, expected) => {
    expect(ask(stack(inline(statement)), action, resource)).toBe(expected ? 'yes' : none(action));
  });
});

describe('a decision', () => {
  it('is no unless a statement allows it, and an explicit deny wins', () => {
    expect(ask(stack({}), 'dynamodb:PutItem', TABLE)).toBe(none('dynamodb:PutItem'));
    expect(ask(stack(inline(allow('*'), deny('dynamodb:Put*', TABLE))), 'dynamodb:PutItem', TABLE)).toBe(
      'with an explicit deny in an identity-based policy',
    );
  });

  it('asks every policy that CloudFormation attaches to the role', () => {
    const document = (action: string): Json => ({ Statement: allow(action) as never });
    const policies = stack(
      { ...inline(allow('a:Inline')), ManagedPolicyArns: [{ Ref: 'Shared' }] },
      {
        Own: {
          Type: 'AWS::IAM::Policy',
          Properties: { Roles: [{ Ref: 'Role' }], PolicyDocument: document('a:Policy') },
        },
        Other: {
          Type: 'AWS::IAM::Policy',
          Properties: { Roles: ['SomeoneElse'], PolicyDocument: document('a:Other') },
        },
        One: {
          Type: 'AWS::IAM::RolePolicy',
          Properties: { RoleName: { Ref: 'Role' }, PolicyDocument: document('a:RolePolicy') },
        },
        Shared: { Type: 'AWS::IAM::ManagedPolicy', Properties: { PolicyDocument: document('a:Managed') } },
        Joined: {
          Type: 'AWS::IAM::ManagedPolicy',
          Properties: { Roles: [{ Ref: 'Role' }], PolicyDocument: document('a:Joined') },
        },
      },
    );
    const asked = ['Inline', 'Policy', 'RolePolicy', 'Managed', 'Joined', 'Other'].filter(
      (name) => ask(policies, `a:${name}`, TABLE) === 'yes',
    );
    expect(asked).toEqual(['Inline', 'Policy', 'RolePolicy', 'Managed', 'Joined']);
  });

  it('knows a few policies of AWS, and says of the others that it does not', () => {
    const policies = stack({
      ManagedPolicyArns: [
        'arn:aws:iam::aws:policy/service-role/AWSLambdaSQSQueueExecutionRole',
        'arn:aws:iam::aws:policy/AmazonDynamoDBFullAccess',
      ],
    });
    expect(ask(policies, 'sqs:ReceiveMessage', QUEUE)).toBe('yes');
    expect(ask(policies, 'dynamodb:PutItem', TABLE)).toBe(
      `${none('dynamodb:PutItem')} (arn:aws:iam::aws:policy/AmazonDynamoDBFullAccess is not known here)`,
    );
    expect(policies.notes).toEqual([
      'Shop-Role (arn:aws:iam::aws:policy/AmazonDynamoDBFullAccess is not known here: what only it allows is refused)',
    ]);
  });

  it('stays within the boundary of the role', () => {
    const boundary = { Statement: [allow('dynamodb:*')] };
    const policies = stack(
      { ...inline(allow('*')), PermissionsBoundary: { Ref: 'Limit' } },
      { Limit: { Type: 'AWS::IAM::ManagedPolicy', Properties: { PolicyDocument: boundary } } },
    );
    expect(ask(policies, 'dynamodb:PutItem', TABLE)).toBe('yes');
    expect(ask(policies, 'sqs:SendMessage', QUEUE)).toBe(
      'because no permissions boundary allows the sqs:SendMessage action',
    );
  });

  it('is not made about a role from elsewhere, which is said', () => {
    const role = 'arn:aws:iam::123456789012:role/given';
    const policies = stack({}, { Fn: { Type: 'AWS::Lambda::Function', Properties: { Role: role } } });
    expect(policies.checks('Fn')).toBe(false);
    expect(policies.notes).toEqual([`Fn (its role ${role} is not in this stack: its calls are not checked)`]);
  });

  it('refuses an invalid statement, with its place', () => {
    expect(() => stack(inline({ Effect: 'Perhaps', Action: '*', Resource: '*' }))).toThrow(
      'Role.Policies[0].Statement[0].Effect: Allow or Deny was expected, got "Perhaps"',
    );
    expect(() => stack(inline({ Effect: 'Allow', Action: '*' }))).toThrow(
      'Role.Policies[0].Statement[0]: Resource or NotResource with texts was expected',
    );
  });
});

test('what is allowed can be listed', () => {
  const policies = stack(inline(allow(['a:One', 'a:Two'], [TABLE, QUEUE]), deny('a:Three')), {
    P: {
      Type: 'AWS::Lambda::Permission',
      Properties: {
        Action: 'lambda:InvokeFunction',
        FunctionName: { Ref: 'Fn' },
        Principal: 'events.amazonaws.com',
      },
    },
  });
  expect(policies.permissions().map(({ who, action, resource }) => [who, action, resource])).toEqual([
    ['Fn', 'a:One', TABLE],
    ['Fn', 'a:One', QUEUE],
    ['Fn', 'a:Two', TABLE],
    ['Fn', 'a:Two', QUEUE],
    ['lambda.amazonaws.com', 'sts:AssumeRole', 'arn:aws:iam::000000000000:role/Shop-Role'],
    ['events.amazonaws.com', 'lambda:InvokeFunction', FN],
  ]);
});
