/** `steadfast upgrade` against what AWS answers: what is deployed, in which order, and when it waits. */

import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Calls } from '../../../cli/aws/calls.ts';
import { upgrade } from '../../../cli/upgrade/command.ts';
import type { Template } from '../../../cli/upgrade/steps.ts';
import { steadfast } from '../fake-api.ts';
import { FakeAws } from '../quiesce/fake-aws.ts';

const KEYS = { accessKeyId: 'AKIDEXAMPLE', secretAccessKey: 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY' };

const index = (name: string): object => ({
  IndexName: name,
  KeySchema: [{ AttributeName: name, KeyType: 'HASH' }],
  Projection: { ProjectionType: 'KEYS_ONLY' },
});
const template = (agents: string, ...indexes: string[]): Template => ({
  Resources: {
    Table: {
      Type: 'AWS::DynamoDB::Table',
      Properties: {
        KeySchema: [{ AttributeName: 'pk', KeyType: 'HASH' }],
        AttributeDefinitions: ['pk', ...indexes].map((AttributeName) => ({
          AttributeName,
          AttributeType: 'S',
        })),
        GlobalSecondaryIndexes: indexes.map(index),
      },
    },
    Scheduler: {
      Type: 'AWS::Lambda::Function',
      Properties: { Environment: { Variables: { STEADFAST_TABLE: 't', STEADFAST_AGENTS: agents } } },
      Metadata: { 'aws:cdk:path': 'Shop/Steadfast/Scheduler/Function/Resource' },
    },
    Api: {
      Type: 'AWS::ApiGatewayV2::Api',
      Properties: {},
      Metadata: { 'aws:cdk:path': 'Shop/Steadfast/Scheduler/Api/Resource' },
    },
  },
});
let aws: FakeAws;
let folder: string;
beforeEach(async () => {
  aws = new FakeAws();
  aws.resources = [['Table', 'AWS::DynamoDB::Table', 'Shop-Table']];
  await aws.open();
  folder = mkdtempSync(join(tmpdir(), 'steadfast-upgrade-test-'));
  writeApp(template('pay', 'wake', 'list', 'one', 'two'));
});
afterEach(() => {
  aws.close();
  rmSync(folder, { recursive: true });
});

const HASH = 'a'.repeat(64);
/** As CDK writes it. */
function writeApp(wanted: Template): void {
  mkdirSync(folder, { recursive: true });
  const write = (name: string, value: unknown): void =>
    writeFileSync(join(folder, name), JSON.stringify(value));
  write('Shop.template.json', wanted);
  write('Other.template.json', { Resources: {} });
  write('Shop.assets.json', {
    version: '36.0.0',
    files: {
      [HASH]: {
        source: { path: 'Shop.template.json', packaging: 'file' },
        destinations: { here: { bucketName: 'b', objectKey: `${HASH}.json` } },
      },
      code: { source: { path: 'asset.code', packaging: 'zip' }, destinations: {} },
    },
    dockerImages: {},
  });
  write('manifest.json', {
    version: '36.0.0',
    artifacts: {
      'Shop.assets': { type: 'cdk:asset-manifest', properties: { file: 'Shop.assets.json' } },
      Shop: {
        type: 'aws:cloudformation:stack',
        properties: {
          templateFile: 'Shop.template.json',
          stackTemplateAssetObjectUrl: `s3://b/${HASH}.json`,
        },
        dependencies: ['Shop.assets', 'Other'],
        displayName: 'Shop',
      },
      Other: { type: 'aws:cloudformation:stack', properties: { templateFile: 'Other.template.json' } },
    },
  });
}

const indexesIn = (assembly: string): string[] => {
  const { Resources } = JSON.parse(readFileSync(join(assembly, 'Shop.template.json'), 'utf8')) as Template;
  const { GlobalSecondaryIndexes: all } = Object(Resources['Table']?.['Properties']) as {
    GlobalSecondaryIndexes: { IndexName: string }[];
  };
  return all.map(({ IndexName }) => IndexName);
};

/** Deploys into the fake account; a new index is read as building twice. */
async function run(failAt?: number): Promise<readonly string[]> {
  const clock = { now: () => 0, sleep: async () => void events.push('wait') };
  const events: string[] = [];
  let deployed = 0;
  try {
    await upgrade({
      calls: new Calls({ region: 'eu-central-1', endpoint: aws.url, credentials: KEYS, clock }),
      stack: 'Shop',
      assembly: folder,
      clock,
      deploy: async (assembly, stackPath) => {
        deployed += 1;
        if (deployed === failAt) throw new Error('no');
        expect(stackPath).toBe('Shop');
        events.push(`${assembly === folder ? 'app' : 'step'} ${indexesIn(assembly).join(',')}`);
        if (assembly !== folder) expectAssembly(assembly);
        aws.deployed = readFileSync(join(assembly, 'Shop.template.json'), 'utf8');
        aws.building = 2;
      },
      say: (line) => void events.push(line),
    });
  } catch (error) {
    events.push(String(error));
  }
  return events;
}

/** One stack, and one asset under a hash that no other template has. */
function expectAssembly(assembly: string): void {
  const read = (name: string) => JSON.parse(readFileSync(join(assembly, name), 'utf8'));
  const { artifacts } = read('manifest.json');
  expect(Object.keys(artifacts)).toEqual(['Shop.assets', 'Shop']);
  expect(artifacts.Shop.dependencies).toEqual(['Shop.assets']);
  const { files } = read('Shop.assets.json');
  const [hash = '', ...others] = Object.keys(files);
  expect([hash === HASH, others]).toEqual([false, []]);
  expect(artifacts.Shop.properties.stackTemplateAssetObjectUrl).toBe(`s3://b/${hash}.json`);
  expect(files[hash].destinations.here.objectKey).toBe(`${hash}.json`);
  expect(existsSync(join(assembly, files[hash].source.path))).toBe(true);
}

test('two new indexes come one at a time, each after the one before can be read, then the release', async () => {
  aws.deployed = JSON.stringify(template('pay,old', 'wake', 'list'));
  expect(await run()).toEqual([
    "1 of 3: add the index 'one'",
    'step wake,list,one',
    "index 'one' is CREATING",
    'wait',
    "index 'one' is CREATING",
    'wait',
    "2 of 3: add the index 'two'",
    'step wake,list,one,two',
    "index 'two' is CREATING",
    'wait',
    "index 'two' is CREATING",
    'wait',
    '3 of 3: the release',
    'app wake,list,one,two',
  ]);
  expect(JSON.parse(aws.deployed)).toEqual(template('pay', 'wake', 'list', 'one', 'two'));
});

test('what was interrupted goes on where it stands', async () => {
  aws.deployed = JSON.stringify(template('pay,old', 'wake', 'list'));
  expect((await run(2)).at(-1)).toBe('Error: no');
  const events = await run();
  expect(events.filter((event) => event.includes(' of '))).toEqual([
    "1 of 2: add the index 'two'",
    '2 of 2: the release',
  ]);
});

test('a stack that is not there yet gets all at once', async () => {
  aws.deployed = undefined;
  expect(await run()).toEqual(['1 of 1: the release', 'app wake,list,one,two']);
});

test.each(['Resources:\n  Table: {}', '{}', '[]', 'null', ''])(
  'a stack of others is refused: %j',
  async (text) => {
    aws.deployed = text;
    expect(await run()).toEqual([
      expect.stringContaining("what is deployed as stack 'Shop' is not a JSON template"),
    ]);
  },
);

test('--dry-run says what is left, and changes nothing', async () => {
  aws.deployed = JSON.stringify(template('pay', 'wake', 'list', 'one'));
  process.env['AWS_ACCESS_KEY_ID'] = KEYS.accessKeyId;
  process.env['AWS_SECRET_ACCESS_KEY'] = KEYS.secretAccessKey;
  const { out, exitCode } = await steadfast(
    ['upgrade', '--stack', 'Shop', '--assembly', folder, '--dry-run'],
    {
      AWS_ENDPOINT_URL: aws.url,
      AWS_REGION: 'eu-central-1',
    },
  );
  expect([exitCode, out]).toEqual([0, "1 of 2 left: add the index 'two'\n2 of 2 left: the release\n"]);
});
