/** What a change set would do to what holds data, in the form that AWS documents. */

import { problemsOf } from '../../../cli/verify/change-set.ts';

it('names what a change set would replace of what holds data', () => {
  const change = (ResourceType: string, Replacement: string, action = 'Modify'): string =>
    `<member><ResourceChange><Action>${action}</Action><LogicalResourceId>State</LogicalResourceId><ResourceType>${ResourceType}</ResourceType><Replacement>${Replacement}</Replacement></ResourceChange></member>`;
  const xml = [
    change('AWS::DynamoDB::Table', 'True'),
    change('AWS::DynamoDB::Table', 'False'),
    change('AWS::Lambda::Function', 'True'),
  ].join('');
  const ready = '<Status>CREATE_COMPLETE</Status>';
  expect(problemsOf(`<Changes>${xml}</Changes>${ready}`)).toEqual([
    'State (AWS::DynamoDB::Table) would be replaced',
  ]);
  expect(problemsOf(`<Changes>${change('AWS::SQS::Queue', '')}</Changes>${ready}`)).toEqual([]);
  const lost = `${change('AWS::SQS::Queue', '', 'Remove')}${change('AWS::S3::Bucket', 'Conditional')}`;
  expect(problemsOf(`<Changes>${lost}</Changes>${ready}`)).toEqual([
    'State (AWS::SQS::Queue) would be removed',
    'State (AWS::S3::Bucket) may be replaced',
  ]);
});

it('takes no change set for accepted that CloudFormation refused, or that changes nothing', () => {
  const none = 'The submitted information didn&apos;t contain changes.';
  expect(problemsOf(`<Status>FAILED</Status><StatusReason>${none}</StatusReason><Changes/>`)).toEqual([
    "the change set is FAILED: The submitted information didn't contain changes.",
    'it has no change',
  ]);
});
