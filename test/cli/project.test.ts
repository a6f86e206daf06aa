/** Which CDK app `steadfast dev` runs, and which of its Steadfast constructs. */

import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { findProject, steadfastIn } from '../../cli/dev/project.ts';
import { eachFolder } from '../fresh-folder.ts';

let root: string;
eachFolder('project', (path) => (root = path));

function write(files: Readonly<Record<string, unknown>>): void {
  for (const [name, content] of Object.entries(files)) {
    const file = join(root, name);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, typeof content === 'string' ? content : JSON.stringify(content));
  }
}

describe('the project', () => {
  it('is that of the nearest cdk.json upward, with what was looked up in an account', () => {
    write({
      'cdk.json': { app: 'npx tsx bin/app.ts', context: { a: 1, b: 1 } },
      'cdk.context.json': { b: 2 },
      'workflows/x/agents/y.ts': '',
    });
    expect(findProject(join(root, 'workflows/x/agents'))).toEqual({
      root,
      app: 'npx tsx bin/app.ts',
      context: { a: 1, b: 2 },
    });
    expect(findProject(root, 'node app.js').app).toBe('node app.js');
  });

  it('is the working directory where --app says how it is run', () => {
    expect(findProject(root, 'node app.js')).toEqual({ root, app: 'node app.js', context: {} });
  });

  it.each<[string, Readonly<Record<string, unknown>>, RegExp]>([
    [
      'is nowhere',
      {},
      /^there is no cdk\.json in .* or above it\. Run this in .* --app 'npx tsx bin\/app\.ts'$/,
    ],
    [
      'has no command that runs the app',
      { 'cdk.json': {} },
      /cdk\.json has no command that runs the app: add "app"/,
    ],
    ['is not JSON', { 'cdk.json': '{' }, /cdk\.json is not readable JSON: /],
  ])('that %s is refused, with what to do', (_, files, message) => {
    write(files);
    expect(() => findProject(root)).toThrow(
      expect.objectContaining({ message: expect.stringMatching(message) }),
    );
  });
});

describe('the Steadfast', () => {
  const stackOf = (templateFile: string) => ({
    type: 'aws:cloudformation:stack',
    properties: { templateFile },
  });
  /** A template with a Steadfast construct at each path. */
  const holding = (...paths: string[]) => ({
    Resources: Object.fromEntries(
      paths.flatMap((path, at) => [
        [
          `F${at}`,
          {
            Properties: {
              Environment: { Variables: { STEADFAST_TABLE: 't', STEADFAST_AGENTS: 'pay,mail' } },
            },
            Metadata: { 'aws:cdk:path': `${path}/Scheduler/Function/Resource` },
          },
        ],
        [
          `Starter${at}`,
          {
            Properties: { Environment: { Variables: { STEADFAST_TABLE: 't' } } },
            Metadata: { 'aws:cdk:path': `${path}/Triggers/x/Function/Resource` },
          },
        ],
        [`Api${at}`, { Metadata: { 'aws:cdk:path': `${path}/Scheduler/Api/Resource` } }],
      ]),
    ),
  });
  const other = { Resources: {} };

  it('is that of the only stack that holds one, also in a stage of the app', () => {
    write({
      'manifest.json': {
        artifacts: {
          Web: stackOf('web.json'),
          tree: { type: 'cdk:tree' },
          'assembly-Prod': { type: 'cdk:cloud-assembly', properties: { directoryName: 'assembly-Prod' } },
        },
      },
      'web.json': other,
      'assembly-Prod/manifest.json': {
        artifacts: {
          ProdOrders: {
            type: 'aws:cloudformation:stack',
            displayName: 'Prod/Orders',
            properties: { templateFile: 'o.json', stackName: 'Prod-Orders' },
          },
        },
      },
      'assembly-Prod/o.json': holding('Prod/Orders/Steadfast'),
    });
    expect(steadfastIn(root)).toEqual({
      assembly: join(root, 'assembly-Prod'),
      stack: 'Prod-Orders',
      stackPath: 'Prod/Orders',
      path: 'Prod/Orders/Steadfast',
      api: 'Api0',
      template: join(root, 'assembly-Prod', 'o.json'),
      agents: ['pay', 'mail'],
      lanes: [],
      beside: [],
    });
  });

  it('is chosen by the stack where several hold one', () => {
    write({
      'manifest.json': { artifacts: { A: stackOf('a.json'), B: stackOf('b.json'), C: stackOf('c.json') } },
      'a.json': holding('A/It'),
      'b.json': holding('B/It'),
      'c.json': other,
    });
    expect(steadfastIn(root, { stack: 'B' })).toMatchObject({ stack: 'B', path: 'B/It' });
    expect(steadfastIn(root, { name: 'A/It' })).toMatchObject({ stack: 'A', path: 'A/It' });
    const said = 'several stacks hold a Steadfast; choose with --stack one of: A, B';
    expect(() => steadfastIn(root)).toThrow(said);
    expect(() => steadfastIn(root, { name: 'It' })).toThrow(said);
    expect(() => steadfastIn(root, { stack: 'C' })).toThrow(
      "no stack 'C' holds a Steadfast; choose with --stack one of: A, B",
    );
  });

  it('is chosen by the name of its construct where its stack holds several; the others run beside it', () => {
    write({
      'manifest.json': { artifacts: { Shop: stackOf('shop.json') } },
      'shop.json': holding('Shop/Payments', 'Shop/Back/Reports'),
    });
    expect(steadfastIn(root, { name: 'Reports' })).toMatchObject({
      path: 'Shop/Back/Reports',
      api: 'Api1',
      beside: [{ path: 'Shop/Payments', api: 'Api0' }],
    });
    const these = 'choose with --name one of: Shop/Payments, Shop/Back/Reports';
    expect(() => steadfastIn(root, { stack: 'Shop' })).toThrow(
      `stack 'Shop' holds several Steadfasts; ${these}`,
    );
    expect(() => steadfastIn(root, { name: 'ports' })).toThrow(`no Steadfast is named 'ports'; ${these}`);
  });

  it('is missed with the line that adds one', () => {
    write({ 'manifest.json': { artifacts: { Web: stackOf('web.json') } }, 'web.json': other });
    expect(() => steadfastIn(root)).toThrow(
      /^no stack of the app holds a Steadfast: Web\. Add one: new Steadfast\(/,
    );
  });

  it('is missed in an app without any', () => {
    expect(() => steadfastIn(root)).toThrow(/^the app has no stack\. Add one/);
  });
});
