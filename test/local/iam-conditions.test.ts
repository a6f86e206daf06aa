/** IAM's conditions in policy statements. */
import type { Context } from '../../local/iam/match.ts';
import type { StackPolicies } from '../../local/iam/stack-policies.ts';
import type { Json } from '../../local/template/json.ts';
import { allow, ask, inline, none, QUEUE, stack, TABLE } from './policies.ts';

const [REGION, ROLE] = ['aws:RequestedRegion', 'aws:PrincipalArn'];
const [IN, KEYS] = ['dynamodb:EnclosingOperation', 'dynamodb:LeadingKeys'];

describe('conditions', () => {
  const on = (Condition: Json): StackPolicies => stack(inline(allow('*', '*', { Condition })));
  const transaction = { 'dynamodb:enclosingoperation': ['TransactWriteItems'] };
  const keys = { 'dynamodb:leadingkeys': ['order#1', 'order#2'] };
  it.each<[string, Json, Context, boolean]>([
    ['Bool', { Bool: { 'aws:SecureTransport': 'true' } }, {}, true],
    ['Bool, as a boolean', { Bool: { 'aws:SecureTransport': false } }, {}, false],
    ['StringEquals', { StringEquals: { [REGION]: ['eu-west-1', 'us-east-1'] } }, {}, true],
    ['StringEquals, key absent', { StringEquals: { [IN]: 'x' } }, {}, false],
    ['StringEquals knows no wildcard', { StringEquals: { [REGION]: 'us-*' } }, {}, false],
    ['StringLike', { StringLike: { [REGION]: 'us-*' } }, {}, true],
    ['StringNotLike', { StringNotLike: { [REGION]: 'us-*' } }, {}, false],
    ['StringNotEquals, key absent', { StringNotEquals: { [IN]: 'x' } }, {}, true],
    ['StringNotEquals of several', { StringNotEquals: { [REGION]: ['x', 'us-east-1'] } }, {}, false],
    ['StringEqualsIgnoreCase', { StringEqualsIgnoreCase: { [REGION]: 'US-EAST-1' } }, {}, true],
    ['…IfExists, key absent', { StringEqualsIfExists: { [IN]: 'x' } }, {}, true],
    ['…IfExists, key there', { StringEqualsIfExists: { [IN]: 'x' } }, transaction, false],
    ['Null', { Null: { [IN]: 'true' } }, {}, true],
    ['Null, key there', { Null: { [IN]: 'true' } }, transaction, false],
    ['ArnLike', { ArnLike: { [ROLE]: 'arn:aws:iam::*:role/Shop-*' } }, {}, true],
    ['ArnEquals of another', { ArnEquals: { [ROLE]: 'arn:aws:iam::*:role/Bank-*' } }, {}, false],
    ['ArnNotLike', { ArnNotLike: { [ROLE]: 'arn:aws:iam::*:role/Bank-*' } }, {}, true],
    ['ForAnyValue', { 'ForAnyValue:StringEquals': { [IN]: ['TransactWriteItems'] } }, transaction, true],
    ['ForAnyValue, key absent', { 'ForAnyValue:StringEquals': { [IN]: ['x'] } }, {}, false],
    ['ForAllValues', { 'ForAllValues:StringLike': { [KEYS]: 'order#*' } }, keys, true],
    ['ForAllValues, one is not', { 'ForAllValues:StringEquals': { [KEYS]: 'order#1' } }, keys, false],
    ['ForAllValues, key absent', { 'ForAllValues:StringEquals': { [KEYS]: 'order#1' } }, {}, true],
    ['a variable', { StringEquals: { [ROLE]: '${aws:PrincipalArn}' } }, {}, true],
    ['a written star', { StringLike: { [REGION]: 'us-${*}' } }, {}, false],
    [
      'two, one of which fails',
      { Bool: { 'aws:SecureTransport': 'true' }, StringLike: { [REGION]: 'eu-*' } },
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
      { NumericLessThan: { [REGION]: '1' } },
      'condition operator NumericLessThan is not known',
    ],
    [
      'a misspelt operator',
      { Stringequals: { [REGION]: 'x' } },
      'condition operator Stringequals is not known',
    ],
    [
      'a key',
      { StringEquals: { 'dynamodb:Attributes': 'a' } },
      'condition key dynamodb:Attributes is not known',
    ],
    [
      'a key with IfExists',
      { StringEqualsIfExists: { 'aws:PrincipalTag/team': 'a' } },
      'condition key aws:PrincipalTag/team is not known',
    ],
    [
      'a variable',
      { StringEquals: { [REGION]: '${aws:username}' } },
      'policy variable ${aws:username} has no value',
    ],
  ])('%s that is not known refuses, with its place', (_, condition, why) => {
    expect(ask(on(condition), 'dynamodb:PutItem', TABLE)).toBe(
      `because it cannot be checked here: the ${why} here ${place}`,
    );
  });

  it('that are not known matter only where the rest of the statement fits', () => {
    const unknown = { Condition: { DateGreaterThan: { 'aws:CurrentTime': '2020-01-01T00:00:00Z' } } };
    const policies = stack(inline(allow('sqs:*', '*', unknown), allow('dynamodb:PutItem')));
    expect(ask(policies, 'dynamodb:PutItem', TABLE)).toBe('yes');
    expect(ask(policies, 'sqs:SendMessage', QUEUE)).toMatch(/cannot be checked here/);
  });
});
