import { isRecord, type Json } from '../../local/template/json.ts';
import { physicalNameOf, type StackPlace } from '../../local/template/resource-types.ts';
import { rateMs } from '../../local/template/routing-model.ts';
import { readStackModel } from '../../local/template/stack-model.ts';
import { resolveTemplate } from '../../local/template/template.ts';
import { template as fixture } from './fixture.ts';

const place: StackPlace = {
  stackName: 'Shop',
  region: 'us-east-1',
  accountId: '000000000000',
  gatewayUrl: 'http://gateway',
  apiUrl: (logicalId) => `http://api/${logicalId}`,
  functionUrl: (logicalId) => `http://${logicalId}.function`,
};

/** Resolves a value as an output of a stack with a few resources. */
function resolve(value: Json, more: Record<string, Json> = {}): string | undefined {
  const template: Json = {
    Parameters: {
      Stage: { Type: 'String', Default: 'dev' },
      List: { Type: 'CommaDelimitedList', Default: 'a,b' },
      Open: { Type: 'String' },
    },
    Mappings: { Sizes: { dev: { memory: 128 } } },
    Conditions: {
      IsDev: { 'Fn::Equals': [{ Ref: 'Stage' }, 'dev'] },
      IsProd: { 'Fn::Not': [{ Condition: 'IsDev' }] },
      Both: { 'Fn::And': [{ Condition: 'IsDev' }, { Condition: 'IsProd' }] },
      Either: { 'Fn::Or': [{ Condition: 'IsDev' }, { Condition: 'IsProd' }] },
    },
    Resources: {
      Queue: { Type: 'AWS::SQS::Queue', Properties: {} },
      Named: { Type: 'AWS::SQS::Queue', Properties: { QueueName: { 'Fn::Sub': '${AWS::StackName}-q' } } },
      Fn: { Type: 'AWS::Lambda::Function', Properties: {} },
      Alias: { Type: 'AWS::Lambda::Alias', Properties: { FunctionName: { Ref: 'Fn' }, Name: 'live' } },
      Table: { Type: 'AWS::DynamoDB::Table', Properties: {} },
      Api: { Type: 'AWS::ApiGatewayV2::Api', Properties: {} },
      Topic: { Type: 'AWS::SNS::Topic', Properties: {} },
      Gone: { Type: 'AWS::SNS::Topic', Condition: 'IsProd' },
    },
    Outputs: { Out: { Value: value } },
    ...more,
  };
  return resolveTemplate(template, place).outputs['Out'];
}

describe('intrinsics', () => {
  const arn = 'arn:aws:sqs:us-east-1:000000000000:Shop-Queue';
  test.each<[string, Json, string]>([
    ['Ref of a queue is its URL', { Ref: 'Queue' }, 'http://gateway/000000000000/Shop-Queue'],
    [
      'an address of a queue put together from its name is its URL',
      { 'Fn::Sub': 'https://sqs.${AWS::Region}.${AWS::URLSuffix}/${AWS::AccountId}/Shop-Queue' },
      'http://gateway/000000000000/Shop-Queue',
    ],
    ['Ref of a function is its name', { Ref: 'Fn' }, 'Shop-Fn'],
    ['Ref of a parameter', { Ref: 'Stage' }, 'dev'],
    ['Ref of a list parameter', { Ref: 'List' }, '["a","b"]'],
    ['Ref of a pseudo parameter', { Ref: 'AWS::Region' }, 'us-east-1'],
    ['Ref of an unknown type is its name', { Ref: 'Topic' }, 'Shop-Topic'],
    ['a given name is used', { 'Fn::GetAtt': ['Named', 'QueueName'] }, 'Shop-q'],
    ['GetAtt', { 'Fn::GetAtt': ['Queue', 'Arn'] }, arn],
    ['GetAtt in short form', { 'Fn::GetAtt': 'Queue.Arn' }, arn],
    [
      'GetAtt of an unknown type',
      { 'Fn::GetAtt': ['Topic', 'TopicArn'] },
      'arn:aws:sns:us-east-1:000000000000:Shop-Topic',
    ],
    ['an alias', { Ref: 'Alias' }, 'arn:aws:lambda:us-east-1:000000000000:function:Shop-Fn:live'],
    ['Sub', { 'Fn::Sub': '${Queue.Arn}/${AWS::StackName}/${!Kept}' }, `${arn}/Shop/\${Kept}`],
    ['Sub with variables', { 'Fn::Sub': ['${A}-${Stage}', { A: { Ref: 'Fn' } }] }, 'Shop-Fn-dev'],
    ['Join', { 'Fn::Join': ['-', ['a', { Ref: 'Stage' }, 3]] }, 'a-dev-3'],
    [
      'Select and Split',
      { 'Fn::Select': [5, { 'Fn::Split': [':', { 'Fn::GetAtt': ['Queue', 'Arn'] }] }] },
      'Shop-Queue',
    ],
    ['If', { 'Fn::If': ['IsDev', 'small', 'big'] }, 'small'],
    ['If with And and Or', { 'Fn::If': ['Both', 'x', { 'Fn::If': ['Either', 'y', 'z'] }] }, 'y'],
    ['If without a value', { a: { 'Fn::If': ['IsProd', 1, { Ref: 'AWS::NoValue' }] }, b: 2 }, '{"b":2}'],
    ['FindInMap', { 'Fn::FindInMap': ['Sizes', { Ref: 'Stage' }, 'memory'] }, '128'],
    ['Base64', { 'Fn::Base64': 'hi' }, 'aGk='],
  ])('%s', (_name, value, expected) => {
    expect(resolve(value)).toBe(expected);
  });

  test("an API's AWS address becomes the local one, however it is put together", () => {
    const tail = ['.execute-api.', { Ref: 'AWS::Region' }, '.', { Ref: 'AWS::URLSuffix' }, '/v1'];
    expect(resolve({ 'Fn::Join': ['', ['https://', { Ref: 'Api' }, ...tail]] })).toBe('http://api/Api/v1');
    expect(resolve({ 'Fn::GetAtt': ['Api', 'ApiEndpoint'] })).toBe('http://api/Api');
  });

  test.each<[string, Json, RegExp]>([
    ['an import', { 'Fn::ImportValue': 'x' }, /^Outputs\.Out\.Value: Fn::ImportValue .* another stack/],
    ['an unknown function', { 'Fn::Cidr': [] }, /Outputs\.Out\.Value: Fn::Cidr .* supported are Ref/],
    ['an unknown name', { Ref: 'Nope' }, /Outputs\.Out\.Value: Ref "Nope"/],
    [
      'an unknown attribute',
      { 'Fn::GetAtt': ['Queue', 'Depth'] },
      /Value: Fn::GetAtt "Queue\.Depth": .* Arn, QueueName/,
    ],
    ['a missing resource', { 'Fn::GetAtt': ['Nope', 'Arn'] }, /Value: Fn::GetAtt "Nope\.Arn"/],
    ['a parameter without default', { Ref: 'Open' }, /Parameters\.Open: it has no Default/],
    ['a bad Select', { 'Fn::Select': [3, ['a']] }, /asks for item 3 of a list of 1/],
  ])('%s is refused by name', (_name, value, message) => {
    expect(() => resolve(value)).toThrow(message);
  });

  test('a resource whose condition is false does not exist', () => {
    const template: Json = {
      Conditions: { No: { 'Fn::Equals': [1, 2] } },
      Resources: { A: { Type: 'AWS::SNS::Topic', Condition: 'No' }, B: { Type: 'AWS::SNS::Topic' } },
    };
    expect([...resolveTemplate(template, place).resources.keys()]).toEqual(['B']);
  });

  test('a name that refers to itself is refused', () => {
    const template: Json = {
      Resources: {
        A: { Type: 'AWS::SQS::Queue', Properties: { QueueName: { 'Fn::GetAtt': ['A', 'QueueName'] } } },
      },
    };
    expect(() => resolveTemplate(template, place)).toThrow(/A: its name refers to itself/);
  });
});

const modelOf = (change: (resources: Record<string, Json>) => void) => {
  const copy = JSON.parse(JSON.stringify(fixture())) as Json;
  if (isRecord(copy) && isRecord(copy['Resources'])) change(copy['Resources']);
  return readStackModel(resolveTemplate(copy, place));
};

const set = (logicalId: string, name: string, value: Json) => (resources: Record<string, Json>) => {
  const resource = resources[logicalId];
  if (isRecord(resource) && isRecord(resource['Properties'])) resource['Properties'][name] = value;
};

describe('the stack model', () => {
  test('describes every resource that runs, in plain numbers', () => {
    const model = modelOf(() => {});
    expect(model.queues.find((queue) => queue.logicalId === 'Work')).toMatchObject({
      queueName: 'Shop-Work',
      visibilityTimeoutMs: 1000,
      redrive: { targetArn: 'arn:aws:sqs:us-east-1:000000000000:Shop-Dead', maxReceiveCount: 2 },
    });
    expect(model.functions.find((each) => each.logicalId === 'Web')).toMatchObject({
      code: { objectKey: 'web.zip' },
      timeoutMs: 2000,
      environment: { TABLE: 'Shop-Table', QUEUE_URL: 'http://gateway/000000000000/Shop-Work' },
    });
    expect(model.mappings).toMatchObject([
      { functionName: 'Shop-Worker', batchSize: 5, reportsItemFailures: true, maximumConcurrency: 2 },
    ]);
    expect(model.apis).toMatchObject([
      { cors: undefined, routes: [{ routeKey: '$default', functionName: 'Shop-Web' }] },
    ]);
    expect(model.rules.map((rule) => rule.everyMs)).toEqual([60_000, undefined]);
    expect(model.notRun).toEqual(['Zone (AWS::Route53::HostedZone)']);
  });

  test('a wrong type is refused by name', () => {
    expect(() => modelOf(set('Web', 'Timeout', 'soon'))).toThrow(
      /^Web\.Properties\.Timeout: a number was expected, got "soon"/,
    );
  });

  test.each<[string, (resources: Record<string, Json>) => void, RegExp[]]>([
    [
      'a FIFO queue and what reads it',
      set('Work', 'FifoQueue', true),
      [
        /^Work \(AWS::SQS::Queue: FIFO queues do not run locally/,
        /^Mapping .*Shop-Work does not run locally/,
      ],
    ],
    [
      'a function of another runtime',
      set('Web', 'Runtime', 'python3.13'),
      [/^Web \(AWS::Lambda::Function: python3\.13 .* nodejs/],
    ],
    [
      'a function in an image, and what feeds it',
      (resources) => {
        set('Worker', 'Runtime', null)(resources);
        set('Worker', 'PackageType', 'Image')(resources);
      },
      [/^Worker \(AWS::Lambda::Function: Image/, /^Mapping .*Shop-Worker does not run locally/],
    ],
    ['an event filter', set('Mapping', 'FilterCriteria', { Filters: [] }), [/^Mapping \(.*event filters/]],
    [
      'another source',
      set('Mapping', 'EventSourceArn', 'arn:aws:kinesis:us-east-1:000000000000:stream/s'),
      [/^Mapping \(AWS::Lambda::EventSourceMapping: a source other than SQS/],
    ],
    [
      'a WebSocket API',
      set('Api', 'ProtocolType', 'WEBSOCKET'),
      [/^Api \(AWS::ApiGatewayV2::Api: WEBSOCKET/],
    ],
    [
      'payload format 1.0',
      set('Integration', 'PayloadFormatVersion', '1.0'),
      [/^Route \(AWS::ApiGatewayV2::Route: .*2\.0 does/],
    ],
    [
      'what reads an export of another stack',
      (resources) => {
        set('Web', 'Role', { 'Fn::ImportValue': 'Team:Role' })(resources);
        set('Every', 'Targets', [{ Id: 'x', Arn: { 'Fn::ImportValue': 'Team:Topic' } }])(resources);
      },
      [/^Web \(AWS::Lambda::Function: .*Team:Role/, /^Every \(AWS::Events::Rule: .*Team:Topic/],
    ],
    [
      'a route to no function',
      (resources) => {
        const { Properties: { Target: _, ...own } = {} } = resources['Route'] as {
          Properties?: Record<string, Json>;
        };
        resources['Route'] = { Type: 'AWS::ApiGatewayV2::Route', Properties: own };
      },
      [/^Route \(AWS::ApiGatewayV2::Route: a route without an integration/],
    ],
  ])('%s: listed with the reason, and the rest of the stack runs', (_name, change, lines) => {
    const { notRun, tables } = modelOf(change);
    expect(tables).toHaveLength(1);
    expect(notRun).toHaveLength(lines.length + 1);
    for (const line of lines) expect(notRun).toContainEqual(expect.stringMatching(line));
  });

  test('a bucket that the CDK has tell EventBridge does so without the function that would set it', () => {
    const model = modelOf((resources) => {
      resources['Drop'] = { Type: 'AWS::S3::Bucket', Properties: {} };
      resources['Other'] = { Type: 'AWS::S3::Bucket', Properties: {} };
      resources['DropNotifications'] = {
        Type: 'Custom::S3BucketNotifications',
        Properties: {
          BucketName: { Ref: 'Drop' },
          NotificationConfiguration: { EventBridgeConfiguration: {} },
        },
      };
    });
    const notifying = model.buckets.filter(({ tellsEventBridge }) => tellsEventBridge);
    expect(notifying.map(({ logicalId }) => logicalId)).toEqual(['Drop']);
  });

  test('says which pages may call', () => {
    const configuration = { AllowOrigins: ['https://*'], AllowHeaders: ['authorization'], MaxAge: 600 };
    expect(modelOf(set('Api', 'CorsConfiguration', configuration)).apis[0]?.cors).toEqual({
      allowOrigins: ['https://*'],
      allowMethods: [],
      allowHeaders: ['authorization'],
      exposeHeaders: [],
      allowCredentials: false,
      maxAgeSeconds: 600,
    });
  });

  test('a schedule that does not tick by itself is listed', () => {
    const model = modelOf(set('Every', 'ScheduleExpression', 'cron(0 12 * * ? *)'));
    expect(model.notRun).toContainEqual(expect.stringMatching(/^Every \(cron.*trigger it by hand/));
  });
});

test('rates are read in all units, anything else is refused', () => {
  expect(
    ['rate(1 minute)', 'rate(5 minutes)', 'rate(2 hours)', 'rate(1 day)', 'cron(* * * * ? *)'].map(rateMs),
  ).toEqual([60_000, 300_000, 7_200_000, 86_400_000, undefined]);
});

test('long names are cut with a hash and stay apart', () => {
  const [left, right] = ['A', 'B'].map((end) => physicalNameOf('Stack', `${'x'.repeat(80)}${end}`, 64));
  expect(left).toHaveLength(64);
  expect(left).not.toBe(right);
  expect(physicalNameOf('Stack', 'Id', 64)).toBe('Stack-Id');
});
