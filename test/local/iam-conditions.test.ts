/** Conditions of a policy statement. */
import type { Context } from '../../local/iam/match.ts';
import type { StackPolicies } from '../../local/iam/stack-policies.ts';
import type { Json } from '../../local/template/json.ts';
import { allow, ask, inline, none, QUEUE, stack, TABLE } from './policies.ts';

describe('conditions', () => {
  const on = (Condition: Json): StackPolicies => stack(inline(allow('*', '*', { Condition })));
  const transaction = { 'dynamodb:enclosingoperation': ['TransactWriteItems'] };
  const keys = { 'dynamodb:leadingkeys': ['order#1', 'order#2'] };
  it.each<[string, Json, Context, boolean]>([
    ['Bool', { Bool: { 'aws:SecureTransport': 'true' } }, {}, true],
    ['Bool, as a boolean', { Bool: { 'aws:SecureTransport': false } }, {}, false],
    ['StringEquals', { StringEquals: { 'aws:RequestedRegion': ['eu-west-1', 'us-east-1'] } }, {}, true],
    ['StringEquals, key absent', { StringEquals: { 'dynamodb:EnclosingOperation': 'x' } }, {}, false],
    ['StringEquals knows no wildcard', { StringEquals: { 'aws:RequestedRegion': 'us-*' } }, {}, false],
    ['StringLike', { StringLike: { 'aws:RequestedRegion': 'us-*' } }, {}, true],
    ['StringNotLike', { StringNotLike: { 'aws:RequestedRegion': 'us-*' } }, {}, false],
    ['StringNotEquals, key absent', { StringNotEquals: { 'dynamodb:EnclosingOperation': 'x' } }, {}, true],
    [
      'StringNotEquals of several',
      { StringNotEquals: { 'aws:RequestedRegion': ['x', 'us-east-1'] } },
      {},
      false,
    ],
    ['StringEqualsIgnoreCase', { StringEqualsIgnoreCase: { 'aws:RequestedRegion': 'US-EAST-1' } }, {}, true],
    ['…IfExists, key absent', { StringEqualsIfExists: { 'dynamodb:EnclosingOperation': 'x' } }, {}, true],
    [
      '…IfExists, key there',
      { StringEqualsIfExists: { 'dynamodb:EnclosingOperation': 'x' } },
      transaction,
      false,
    ],
    ['Null', { Null: { 'dynamodb:EnclosingOperation': 'true' } }, {}, true],
    ['Null, key there', { Null: { 'dynamodb:EnclosingOperation': 'true' } }, transaction, false],
    ['ArnLike', { ArnLike: { 'aws:PrincipalArn': 'arn:aws:iam::*:role/Shop-*' } }, {}, true],
    ['ArnEquals of another', { ArnEquals: { 'aws:PrincipalArn': 'arn:aws:iam::*:role/Bank-*' } }, {}, false],
    ['ArnNotLike', { ArnNotLike: { 'aws:PrincipalArn': 'arn:aws:iam::*:role/Bank-*' } }, {}, true],
    [
      'ForAnyValue',
      { 'ForAnyValue:StringEquals': { 'dynamodb:EnclosingOperation': ['TransactWriteItems'] } },
      transaction,
      true,
    ],
    [
      'ForAnyValue, key absent',
      { 'ForAnyValue:StringEquals': { 'dynamodb:EnclosingOperation': ['x'] } },
      {},
      false,
    ],
    ['ForAllValues', { 'ForAllValues:StringLike': { 'dynamodb:LeadingKeys': 'order#*' } }, keys, true],
    [
      'ForAllValues, one is not',
      { 'ForAllValues:StringEquals': { 'dynamodb:LeadingKeys': 'order#1' } },
      keys,
      false,
    ],
    [
      'ForAllValues, key absent',
      { 'ForAllValues:StringEquals': { 'dynamodb:LeadingKeys': 'order#1' } },
      {},
      true,
    ],
    ['a variable', { StringEquals: { 'aws:PrincipalArn': '${aws:PrincipalArn}' } }, {}, true],
    ['a written star', { StringLike: { 'aws:RequestedRegion': 'us-${*}' } }, {}, false],
    [
      'two, one of which fails',
      { Bool: { 'aws:SecureTransport': 'true' }, StringLike: { 'aws:RequestedRegion': 'eu-*' } },
      {},
      false,
    ],
  ])('%s', (_, condition, context, expected) => {
    const answer = ask(on(condition), 'dynamodb:PutItem', TABLE, context);
    expect(answer).toBe(expected ? 'yes' : none('dynamodb:PutItem'));
  });

  const place = '(Role.Policies[0].Statement[0])';
  it.each<[string, Json, string]>([
    [
      'an operator',
      { NumericLessThan: { 'aws:RequestedRegion': '1' } },
      'the condition operator NumericLessThan is not known here',
    ],
    [
      'a misspelt operator',
      { Stringequals: { 'aws:RequestedRegion': 'us-east-1' } },
      'the condition operator Stringequals is not known here',
    ],
    [
      'a key',
      { StringEquals: { 'dynamodb:Attributes': 'a' } },
      'the condition key dynamodb:Attributes is not known here',
    ],
    [
      'a key with IfExists',
      { StringEqualsIfExists: { 'aws:PrincipalTag/team': 'a' } },
      'the condition key aws:PrincipalTag/team is not known here',
    ],
    [
      'a variable',
      { StringEquals: { 'aws:RequestedRegion': '${aws:username}' } },
      'the policy variable ${aws:username} has no value here',
    ],
  ])('%s that is not known refuses, with its place', (_, condition, why) => {
    expect(ask(on(condition), 'dynamodb:PutItem', TABLE)).toBe(
      `because it cannot be checked here: ${why} ${place}`,
    );
  });

  it('that are not known matter only where the rest of the statement fits', () => {
    const unknown = { Condition: { DateGreaterThan: { 'aws:CurrentTime': '2020-01-01T00:00:00Z' } } };
    const policies = stack(inline(allow('sqs:*', '*', unknown), allow('dynamodb:PutItem')));
    expect(ask(policies, 'dynamodb:PutItem', TABLE)).toBe('yes');
    expect(ask(policies, 'sqs:SendMessage', QUEUE)).toMatch(/cannot be checked here/);
  });
});
