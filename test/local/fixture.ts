/** A small hand-written assembly: one table, queues, three functions, an API, a bus rule, a schedule. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { buildSync } from 'esbuild';
import { type Cloud, type CloudOptions, startCloud } from '../../local/cloud.ts';

const ROOT = dirname(dirname(dirname(fileURLToPath(import.meta.url))));

/** Handlers by asset name. The source may import the AWS clients. */
export const SOURCES: Readonly<Record<string, string>> = {
  web: `
    import { SQSClient, SendMessageCommand } from '@aws-sdk/client-sqs';
    import { DynamoDBClient, PutItemCommand, GetItemCommand } from '@aws-sdk/client-dynamodb';
    import { EventBridgeClient, PutEventsCommand } from '@aws-sdk/client-eventbridge';
    const sqs = new SQSClient({}), dynamo = new DynamoDBClient({}), events = new EventBridgeClient({});
    export const handler = async (event, context) => {
      const json = (statusCode, body) => ({ statusCode, headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) });
      if (event.rawPath === '/fail') throw new TypeError('on purpose');
      if (event.rawPath === '/exit') process.exit(3);
      if (event.rawPath === '/slow') return await new Promise((resolve) => setTimeout(resolve, 2_300, 'at last'));
      if (event.rawPath === '/hang') await new Promise(() => {});
      if (event.rawPath === '/env') return json(200, { env: process.env, context, remainingMs: context.getRemainingTimeInMillis() });
      if (event.rawPath === '/event') return json(200, event);
      if (event.rawPath === '/text') return 'just text';
      if (event.rawPath === '/emit') return json(200, await events.send(new PutEventsCommand({ Entries: [JSON.parse(event.body)] })));
      if (event.rawPath === '/items') {
        const got = await dynamo.send(new GetItemCommand({ TableName: process.env.TABLE, Key: { pk: { S: event.queryStringParameters.pk }, sk: { S: 'x' } }, ConsistentRead: true }));
        return json(200, got.Item ?? null);
      }
      const id = event.queryStringParameters?.id ?? 'none';
      await dynamo.send(new PutItemCommand({ TableName: process.env.TABLE, Item: { pk: { S: id }, sk: { S: 'x' }, by: { S: 'web' } } }));
      const sent = await sqs.send(new SendMessageCommand({ QueueUrl: process.env.QUEUE_URL, MessageBody: JSON.stringify({ id }) }));
      return json(202, { messageId: sent.MessageId });
    };`,
  worker: `
    import { DynamoDBClient, PutItemCommand, UpdateItemCommand } from '@aws-sdk/client-dynamodb';
    const dynamo = new DynamoDBClient({ maxAttempts: 3 });
    export const handler = async (event) => {
      const batchItemFailures = [];
      for (const record of event.Records) {
        console.log('record ' + record.body + ' receive ' + record.attributes.ApproximateReceiveCount);
        const { id, poison } = JSON.parse(record.body);
        if (poison) { batchItemFailures.push({ itemIdentifier: record.messageId }); continue; }
        await dynamo.send(new PutItemCommand({ TableName: process.env.TABLE, Item: { pk: { S: id }, sk: { S: 'claim' } } }));
        await dynamo.send(new UpdateItemCommand({ TableName: process.env.TABLE, Key: { pk: { S: id }, sk: { S: 'done' } },
          UpdateExpression: 'ADD n :one', ExpressionAttributeValues: { ':one': { N: '1' } } }));
      }
      return { batchItemFailures };
    };`,
  ticker: `
    let n = 0;
    export const handler = async (event) => { n += 1; console.log('tick ' + event['detail-type'] + ' ' + n); return n; };`,
};

const statement = (action: string | string[], resource: unknown): object => ({
  Effect: 'Allow',
  Action: action,
  Resource: resource,
});

const arnOf = (logicalId: string): object => ({ 'Fn::GetAtt': [logicalId, 'Arn'] });

/** A role that Lambda may assume, with permission to write logs and these statements. */
function role(...statements: object[]): { Type: string; Properties: Record<string, unknown> } {
  return {
    Type: 'AWS::IAM::Role',
    Properties: {
      AssumeRolePolicyDocument: {
        Statement: [
          { Effect: 'Allow', Action: 'sts:AssumeRole', Principal: { Service: 'lambda.amazonaws.com' } },
        ],
      },
      ManagedPolicyArns: [
        { 'Fn::Sub': 'arn:${AWS::Partition}:iam::aws:policy/service-role/AWSLambdaBasicExecutionRole' },
      ],
      Policies: [{ PolicyName: 'own', PolicyDocument: { Statement: statements } }],
    },
  };
}

/** The permission for a service to call a function for one source. */
function permission(
  principal: string,
  functionId: string,
  source: unknown,
): { Type: string; Properties: Record<string, unknown> } {
  return {
    Type: 'AWS::Lambda::Permission',
    Properties: {
      Action: 'lambda:InvokeFunction',
      FunctionName: { Ref: functionId },
      Principal: principal,
      SourceArn: source,
    },
  };
}

function lambda(name: string, properties: object): { Type: string; Properties: Record<string, unknown> } {
  return {
    Type: 'AWS::Lambda::Function',
    Properties: {
      Runtime: 'nodejs24.x',
      Handler: 'index.handler',
      Code: { S3Bucket: { 'Fn::Sub': 'assets-${AWS::AccountId}-${AWS::Region}' }, S3Key: `${name}.zip` },
      Role: arnOf(`${name}Role`),
      LoggingConfig: { LogFormat: 'JSON', ApplicationLogLevel: 'DEBUG' },
      ...properties,
    },
  };
}

/** The template; `change` edits it. */
export function template(): {
  Resources: Record<string, { Type: string; Properties: Record<string, unknown> }>;
} & Record<string, unknown> {
  const environment = { Variables: { TABLE: { Ref: 'Table' }, QUEUE_URL: { Ref: 'Work' } } };
  return {
    Parameters: { BootstrapVersion: { Type: 'AWS::SSM::Parameter::Value<String>', Default: '/cdk/version' } },
    Resources: {
      webRole: role(
        statement(['dynamodb:PutItem', 'dynamodb:GetItem'], arnOf('Table')),
        statement('sqs:SendMessage', arnOf('Work')),
        statement('events:PutEvents', {
          'Fn::Sub': 'arn:aws:events:${AWS::Region}:${AWS::AccountId}:event-bus/*',
        }),
      ),
      workerRole: role(
        statement(['dynamodb:PutItem', 'dynamodb:UpdateItem'], arnOf('Table')),
        statement(['sqs:ReceiveMessage', 'sqs:DeleteMessage', 'sqs:GetQueueAttributes'], arnOf('Work')),
      ),
      tickerRole: role(statement('sqs:PurgeQueue', arnOf('Work'))),
      WebPermission: permission('apigateway.amazonaws.com', 'Web', {
        'Fn::Sub': 'arn:aws:execute-api:${AWS::Region}:${AWS::AccountId}:${Api}/*/$default',
      }),
      TickerPermission: permission('events.amazonaws.com', 'Ticker', arnOf('Every')),
      DeadPolicy: {
        Type: 'AWS::SQS::QueuePolicy',
        Properties: {
          Queues: [{ Ref: 'Dead' }],
          PolicyDocument: {
            Statement: [
              {
                ...statement('sqs:SendMessage', arnOf('Dead')),
                Principal: { Service: 'events.amazonaws.com' },
                Condition: { ArnEquals: { 'aws:SourceArn': arnOf('OnDone') } },
              },
            ],
          },
        },
      },
      Zone: { Type: 'AWS::Route53::HostedZone', Properties: { Odd: { 'Fn::ImportValue': 'x' } } },
      Table: {
        Type: 'AWS::DynamoDB::Table',
        Properties: {
          AttributeDefinitions: ['pk', 'sk', 'due'].map((AttributeName) => ({
            AttributeName,
            AttributeType: 'S',
          })),
          KeySchema: [
            { AttributeName: 'pk', KeyType: 'HASH' },
            { AttributeName: 'sk', KeyType: 'RANGE' },
          ],
          GlobalSecondaryIndexes: [
            {
              IndexName: 'byDue',
              KeySchema: [{ AttributeName: 'due', KeyType: 'HASH' }],
              Projection: { ProjectionType: 'KEYS_ONLY' },
            },
          ],
          TimeToLiveSpecification: { AttributeName: 'ttl', Enabled: true },
        },
      },
      Dead: { Type: 'AWS::SQS::Queue', Properties: { MessageRetentionPeriod: 1_209_600 } },
      Work: {
        Type: 'AWS::SQS::Queue',
        Properties: {
          VisibilityTimeout: 1,
          RedrivePolicy: { deadLetterTargetArn: { 'Fn::GetAtt': ['Dead', 'Arn'] }, maxReceiveCount: 2 },
        },
      },
      Web: lambda('web', { Timeout: 2, MemorySize: 256, Environment: environment }),
      Worker: lambda('worker', { Timeout: 5, Environment: environment }),
      Ticker: lambda('ticker', {}),
      Mapping: {
        Type: 'AWS::Lambda::EventSourceMapping',
        Properties: {
          EventSourceArn: { 'Fn::GetAtt': ['Work', 'Arn'] },
          FunctionName: { Ref: 'Worker' },
          BatchSize: 5,
          FunctionResponseTypes: ['ReportBatchItemFailures'],
          ScalingConfig: { MaximumConcurrency: 2 },
        },
      },
      Api: { Type: 'AWS::ApiGatewayV2::Api', Properties: { Name: 'api', ProtocolType: 'HTTP' } },
      Integration: {
        Type: 'AWS::ApiGatewayV2::Integration',
        Properties: {
          ApiId: { Ref: 'Api' },
          IntegrationType: 'AWS_PROXY',
          IntegrationUri: { 'Fn::GetAtt': ['Web', 'Arn'] },
          PayloadFormatVersion: '2.0',
        },
      },
      Route: {
        Type: 'AWS::ApiGatewayV2::Route',
        Properties: {
          ApiId: { Ref: 'Api' },
          RouteKey: '$default',
          AuthorizationType: 'AWS_IAM',
          Target: { 'Fn::Join': ['', ['integrations/', { Ref: 'Integration' }]] },
        },
      },
      Every: {
        Type: 'AWS::Events::Rule',
        Properties: {
          ScheduleExpression: 'rate(1 minute)',
          State: 'ENABLED',
          Targets: [{ Id: 'T', Arn: { 'Fn::GetAtt': ['Ticker', 'Arn'] } }],
        },
      },
      OnDone: {
        Type: 'AWS::Events::Rule',
        Properties: {
          EventPattern: { source: ['shop'], detail: { total: [{ numeric: ['>', 10] }] } },
          Targets: [{ Id: 'T', Arn: { 'Fn::GetAtt': ['Dead', 'Arn'] } }],
        },
      },
    },
    Outputs: {
      ApiUrl: {
        Value: {
          'Fn::Join': [
            '',
            [
              'https://',
              { Ref: 'Api' },
              '.execute-api.',
              { Ref: 'AWS::Region' },
              '.',
              { Ref: 'AWS::URLSuffix' },
              '/',
            ],
          ],
        },
      },
      TableName: { Value: { Ref: 'Table' } },
    },
  };
}

/** Writes an assembly with the bundles of SOURCES into a new temporary folder. */
export function writeAssembly(stack: object = template()): {
  root: string;
  assembly: string;
  dataDir: string;
} {
  const root = mkdtempSync(join(tmpdir(), 'local-cloud-'));
  const assembly = join(root, 'cdk.out');
  mkdirSync(assembly);
  const files: Record<string, object> = {};
  for (const [name, contents] of Object.entries(SOURCES)) {
    const bundle = bundled(name, contents);
    mkdirSync(join(assembly, `asset.${name}`));
    writeFileSync(join(assembly, `asset.${name}`, 'index.mjs'), bundle);
    files[name] = {
      source: { path: `asset.${name}`, packaging: 'zip' },
      destinations: { current: { bucketName: 'assets', objectKey: `${name}.zip` } },
    };
  }
  writeFileSync(join(assembly, 'Shop.assets.json'), JSON.stringify({ version: '1', files }));
  writeFileSync(join(assembly, 'Shop.template.json'), JSON.stringify(stack));
  return { root, assembly, dataDir: join(root, 'data') };
}

const bundles = new Map<string, string>();

function bundled(name: string, contents: string): string {
  const known = bundles.get(name);
  if (known !== undefined) return known;
  const result = buildSync({
    stdin: { contents, resolveDir: ROOT, loader: 'js' },
    bundle: true,
    write: false,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    minify: true,
    mainFields: ['module', 'main'],
    banner: {
      js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);",
    },
  });
  const text = result.outputFiles[0]?.text ?? '';
  bundles.set(name, text);
  return text;
}

/** A cloud on a fresh assembly and free ports; `end` stops it and removes everything. */
export async function cloudFor(
  options: Partial<CloudOptions> = {},
  stack: object = template(),
): Promise<{ cloud: Cloud; dataDir: string; assembly: string; end: () => Promise<void> }> {
  const { root, assembly, dataDir } = writeAssembly(stack);
  const cloud = await startCloud({ assembly, dataDir, port: 0, schedules: false, ...options });
  return {
    cloud,
    dataDir,
    assembly,
    end: async () => {
      await cloud.stop();
      rmSync(root, { recursive: true, force: true });
    },
  };
}

/** Lets a test wait for the functions' log lines. Every line is returned once, in order. */
export class Lines {
  readonly #lines: string[] = [];
  readonly #waiting: { readonly pattern: RegExp; readonly resolve: (line: string) => void }[] = [];

  readonly onLog = (log: { line: string }): void => {
    const index = this.#waiting.findIndex((each) => each.pattern.test(log.line));
    if (index < 0) this.#lines.push(log.line);
    else this.#waiting.splice(index, 1)[0]?.resolve(log.line);
  };

  async next(pattern: RegExp): Promise<string> {
    const index = this.#lines.findIndex((line) => pattern.test(line));
    if (index >= 0) return this.#lines.splice(index, 1)[0] ?? '';
    return await new Promise((resolve) => this.#waiting.push({ pattern, resolve }));
  }
}

/** Polls for a condition of the operating system or another process that sends no notification. */
export async function until(what: string, holds: () => boolean | Promise<boolean>): Promise<void> {
  const giveUpAt = Date.now() + 8000;
  while (!(await holds())) {
    if (Date.now() > giveUpAt) throw new Error(`never came: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
}
