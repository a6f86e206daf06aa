/**
 * A local cloud refuses requests that the template's policies do not allow, also those of AWS's own services,
 * and reports each refusal.
 */
import { DynamoDBClient, ExecuteStatementCommand, PutItemCommand } from '@aws-sdk/client-dynamodb';
import { EventBridgeClient, PutEventsCommand } from '@aws-sdk/client-eventbridge';
import { SendMessageCommand, SQSClient } from '@aws-sdk/client-sqs';
import { type Cloud, startCloud } from '../../local/cloud.ts';
import type { Denial } from '../../local/iam/access.ts';
import { cloudFor, Lines, template, until, writeAssembly } from './fixture.ts';

/** The fixture's stack without these resources. */
function stackWithout(...logicalIds: string[]): ReturnType<typeof template> {
  const stack = template();
  for (const id of logicalIds) delete stack.Resources[id];
  return stack;
}

/** Removes an action from a role's policy. */
function take(stack: ReturnType<typeof template>, roleId: string, action: string): void {
  const role = stack.Resources[roleId]?.Properties as
    | { Policies: { PolicyDocument: Document }[] }
    | undefined;
  for (const statement of role?.Policies[0]?.PolicyDocument.Statement ?? []) {
    statement.Action = [statement.Action].flat().filter((each) => each !== action);
  }
}

interface Document {
  readonly Statement: { Action: string | string[] }[];
}

const TABLE = 'arn:aws:dynamodb:us-east-1:000000000000:table/Shop-Table';
const WORK = 'arn:aws:sqs:us-east-1:000000000000:Shop-Work';
const refused = (session: string, action: string, resource: string): string =>
  `User: arn:aws:sts::000000000000:assumed-role/${session} is not authorized to perform: ${action} on resource: ${resource} because no identity-based policy allows the ${action} action`;

describe('a function whose role does not allow what it does', () => {
  const lines = new Lines();
  const denied: Denial[] = [];
  const problems: string[] = [];
  let cloud: Cloud;
  let end: () => Promise<void>;

  beforeAll(async () => {
    const stack = stackWithout();
    for (const action of ['dynamodb:PutItem', 'sqs:SendMessage', 'events:PutEvents'])
      take(stack, 'webRole', action);
    ({ cloud, end } = await cloudFor(
      {
        onLog: lines.onLog,
        onDenied: (denial) => denied.push(denial),
        onProblem: (message) => problems.push(message),
      },
      stack,
    ));
  });
  afterAll(async () => await end());

  test('a request is made as the user that a header names, which the function does not see', async () => {
    const event = async (user?: string) => {
      const response = await fetch(`${cloud.apiUrl}/event`, {
        headers: user === undefined ? {} : { 'x-local-user': user },
      });
      const body = (await response.json()) as {
        headers?: Record<string, string>;
        requestContext?: { authorizer?: { iam?: { userArn?: string } } };
      };
      return [response.status, body.requestContext?.authorizer?.iam?.userArn, body.headers?.['x-local-user']];
    };
    expect(await event()).toEqual([200, 'arn:aws:iam::000000000000:user/local', undefined]);
    expect(await event('ann')).toEqual([200, 'arn:aws:iam::000000000000:user/ann', undefined]);
    expect(await event('ann/bob')).toEqual([400, undefined, undefined]);
  });

  const client = (accessKeyId: string) => ({
    endpoint: cloud.gatewayUrl,
    region: 'us-east-1',
    credentials: { accessKeyId, secretAccessKey: 'x' },
  });
  const put = { TableName: 'Shop-Table', Item: { pk: { S: 'a' }, sk: { S: 'b' } } };
  const failure = async (sent: Promise<unknown>): Promise<unknown> =>
    await sent.then(
      () => 'sent',
      (error: Error & { $metadata: object }) => [error.name, error.message],
    );

  it('fails with what AWS would say, and the cloud says it too: once, with function, action and resource', async () => {
    const message = refused('Shop-webRole/Shop-Web', 'dynamodb:PutItem', TABLE);
    for (const id of ['a', 'b']) expect((await fetch(`${cloud.apiUrl}/order?id=${id}`)).status).toBe(500);
    expect(await lines.next(/not authorized/)).toContain(message);
    const denial = { who: 'Web', action: 'dynamodb:PutItem', resource: TABLE, message };
    expect(denied).toEqual([{ ...denial, count: 1 }]);
    expect(problems).toEqual([`access denied, Web: ${message}`]);
    const answer = await fetch(`${cloud.apiUrl}/_local/denials`);
    expect(await answer.json()).toEqual([{ ...denial, count: 2 }]);
    expect(cloud.control.calls().find((each) => each.operation === 'PutItem')).toMatchObject({ errors: 2 });
  });

  it('gets the error of each service as its SDK knows it', async () => {
    const { web, own } = { web: client('Web-7'), own: client('me') };
    expect(await failure(new DynamoDBClient(web).send(new PutItemCommand(put)))).toEqual([
      'AccessDeniedException',
      refused('Shop-webRole/Shop-Web', 'dynamodb:PutItem', TABLE),
    ]);
    const message = {
      QueueUrl: `${cloud.gatewayUrl}/000000000000/Shop-Work`,
      MessageBody: '{"poison":true}',
    };
    expect(await failure(new SQSClient(web).send(new SendMessageCommand(message)))).toEqual([
      'AccessDenied',
      refused('Shop-webRole/Shop-Web', 'sqs:sendmessage', WORK),
    ]);
    const event = { Entries: [{ Source: 'a', DetailType: 'b', Detail: '{}' }] };
    const bus = 'arn:aws:events:us-east-1:000000000000:event-bus/default';
    expect(await failure(new EventBridgeClient(web).send(new PutEventsCommand(event)))).toEqual([
      'AccessDeniedException',
      refused('Shop-webRole/Shop-Web', 'events:PutEvents', bus),
    ]);
    // The refused calls had no effect, and no event was sent.
    expect(cloud.control.events()).toEqual([]);
    expect(await failure(new DynamoDBClient(own).send(new PutItemCommand(put)))).toBe('sent');
  });

  it('is refused what cannot be checked', async () => {
    const sql = new ExecuteStatementCommand({ Statement: 'SELECT * FROM "Shop-Table"' });
    const [name, message] = (await failure(new DynamoDBClient(client('Web-7')).send(sql))) as string[];
    expect(name).toBe('AccessDeniedException');
    expect(message).toMatch(/dynamodb:ExecuteStatement on resource: \* because it cannot be checked here/);
  });

  it('shows which permissions nobody used', async () => {
    cloud.control.resetAccess();
    expect(cloud.control.denials()).toEqual([]);
    expect((await fetch(`${cloud.apiUrl}/items?pk=a`)).status).toBe(200);
    const uses = cloud.control
      .permissions()
      .filter(({ who }) => who === 'Web')
      .map((each) => [each.action, each.uses]);
    expect(uses).toEqual([
      ['dynamodb:GetItem', 1],
      // AWS's managed policy grants these. A warm process has its log stream already.
      ['logs:CreateLogGroup', 0],
      ['logs:CreateLogStream', 0],
      ['logs:PutLogEvents', 1],
    ]);
    expect(cloud.control.accessRequests()).toContainEqual({
      who: 'Web',
      action: 'dynamodb:GetItem',
      resource: TABLE,
      context: {},
    });
  });
});

describe('the services around a function', () => {
  it('reach nothing that does not let them in', async () => {
    const stack = stackWithout('WebPermission', 'TickerPermission', 'DeadPolicy');
    take(stack, 'workerRole', 'sqs:ReceiveMessage');
    const { cloud, end } = await cloudFor({}, stack);
    expect((await fetch(`${cloud.apiUrl}/order`)).status).toBe(500);
    await cloud.control.tick('every');
    const web = {
      endpoint: cloud.gatewayUrl,
      region: 'us-east-1',
      credentials: { accessKeyId: 'me', secretAccessKey: 'x' },
    };
    const event = { Source: 'shop', DetailType: 'Done', Detail: '{"total":50}' };
    await new EventBridgeClient(web).send(new PutEventsCommand({ Entries: [event] }));
    cloud.control.send('work', '{"id":"a"}');
    const name = (arn: string): string => arn.slice(arn.lastIndexOf(':') + 1);
    expect(cloud.control.denials().map(({ who, action, resource }) => [who, action, name(resource)])).toEqual(
      [
        ['apigateway.amazonaws.com', 'lambda:InvokeFunction', 'Shop-Web'],
        ['events.amazonaws.com', 'lambda:InvokeFunction', 'Shop-Ticker'],
        ['events.amazonaws.com', 'sqs:SendMessage', 'Shop-Dead'],
        ['Worker', 'sqs:ReceiveMessage', 'Shop-Work'],
      ],
    );
    expect(cloud.control.functions().map(({ invocations }) => invocations)).toEqual([0, 0, 0]);
    expect(cloud.control.peek('dead')).toEqual([]);
    expect(cloud.control.queues().find((queue) => queue.name === 'Shop-Work')).toMatchObject({ visible: 1 });
    await end();
  });

  it('leave what they may not delete: it comes back', async () => {
    const stack = stackWithout();
    take(stack, 'workerRole', 'sqs:DeleteMessage');
    const { cloud, end } = await cloudFor({}, stack);
    cloud.control.send('work', '{"id":"a"}');
    await until('the deletion is refused', () => cloud.control.denials().length > 0);
    expect(cloud.control.denials()).toMatchObject([
      { who: 'Worker', action: 'sqs:DeleteMessage', resource: WORK },
    ]);
    expect(cloud.control.queues().find((queue) => queue.name === 'Shop-Work')).toMatchObject({ inFlight: 1 });
    await end();
  });

  it('need the trust of a role, without which nothing starts', async () => {
    const stack = stackWithout();
    const role = stack.Resources['webRole']?.Properties;
    if (role !== undefined) role['AssumeRolePolicyDocument'] = { Statement: [] };
    await expect(startCloud({ ...writeAssembly(stack), port: 0 })).rejects.toThrow(
      'Web.Properties: User: lambda.amazonaws.com is not authorized to perform: sts:AssumeRole on resource: arn:aws:iam::000000000000:role/Shop-webRole because no resource-based policy allows the sts:AssumeRole action',
    );
  });
});
