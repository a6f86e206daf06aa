/** Function URLs: the function's event, who may call, and the answer to pages of other origins. */
import { awsSignature } from '../../lib/api/authorization.ts';
import type { Cloud } from '../../local/cloud.ts';
import type { Denial } from '../../local/iam/access.ts';
import { cloudFor, template } from './fixture.ts';

const ARN = { 'Fn::GetAtt': ['Web', 'Arn'] };
const MAY_USE = [
  {
    Effect: 'Allow',
    Action: 'lambda:InvokeFunctionUrl',
    Resource: ARN,
    Condition: { StringEquals: { 'lambda:FunctionUrlAuthType': 'AWS_IAM' } },
  },
  {
    Effect: 'Allow',
    Action: 'lambda:InvokeFunction',
    Resource: ARN,
    Condition: { Bool: { 'lambda:InvokedViaFunctionUrl': true } },
  },
];

const denied: Denial[] = [];
let cloud: Cloud;
let end: () => Promise<void>;
beforeAll(async () => {
  const stack = template();
  const { Resources } = stack;
  Resources['Url'] = {
    Type: 'AWS::Lambda::Url',
    Properties: { AuthType: 'AWS_IAM', TargetFunctionArn: ARN },
  };
  Resources['Open'] = { Type: 'AWS::Lambda::Url', Properties: { AuthType: 'NONE', TargetFunctionArn: ARN } };
  (Resources['workerRole']!.Properties as { Policies: object[] }).Policies.push({
    PolicyName: 'url',
    PolicyDocument: { Statement: MAY_USE },
  });
  Object.assign(stack, {
    Outputs: {
      Url: { Value: { 'Fn::GetAtt': ['Url', 'FunctionUrl'] } },
      Open: { Value: { 'Fn::GetAtt': ['Open', 'FunctionUrl'] } },
    },
  });
  ({ cloud, end } = await cloudFor({ onDenied: (denial) => denied.push(denial) }, stack));
});
afterAll(async () => await end());

const call = (path: string, init: RequestInit = {}, output = 'Url'): Promise<Response> =>
  fetch(new URL(path, cloud.outputs[output]), init);
/** A `fetch` that signs as a function's process does. */
const signedBy = (accessKeyId: string): typeof fetch =>
  awsSignature({
    region: 'us-east-1',
    service: 'lambda',
    credentials: { accessKeyId, secretAccessKey: 'local' },
  })(fetch);
const as = (accessKeyId: string, path: string, init: RequestInit = {}): Promise<Response> =>
  signedBy(accessKeyId)(new URL(path, cloud.outputs['Url']).href, init);

test('is a host of its own, and hands over method, path, query and body as AWS does', async () => {
  const response = await as('Worker-1', '/event?a=1&a=2', { method: 'POST', body: '{"x":1}' });
  expect(response.status).toBe(200);
  expect(await response.json()).toMatchObject({
    version: '2.0',
    routeKey: '$default',
    rawPath: '/event',
    rawQueryString: 'a=1&a=2',
    queryStringParameters: { a: '1,2' },
    requestContext: { http: { method: 'POST', path: '/event' }, stage: '$default' },
    body: '{"x":1}',
    isBase64Encoded: false,
  });
});

test('nobody calls without a signature, nor a function whose role does not allow both', async () => {
  expect((await call('/text')).status).toBe(403);
  expect(denied).toEqual([]);
  expect((await as('Ticker-1', '/text')).status).toBe(403);
  expect(denied).toMatchObject([{ who: 'Ticker', action: 'lambda:InvokeFunctionUrl' }]);
  expect(await (await as('Worker-1', '/text')).text()).toBe('just text');
  // A signing caller outside the stack, as at the API.
  expect((await as('me', '/text')).status).toBe(200);
});

test('without an authorizer everybody calls, but no page of elsewhere', async () => {
  expect((await call('/text', {}, 'Open')).status).toBe(200);
  const page = { headers: { origin: 'https://evil.example' } };
  expect((await call('/text', page, 'Open')).status).toBe(403);
});

test('a function that throws is a 502, one that refuses is answered in its words', async () => {
  expect((await as('Worker-1', '/fail')).status).toBe(502);
  const item = await as('Worker-1', '/items?pk=none');
  expect([item.status, await item.text()]).toEqual([200, 'null']);
});
