/** Which CDK app `steadfast dev` runs, and which of its stacks. */

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { findProject, stackIn } from '../../lib/cli/dev/project.ts';

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'steadfast-project-'));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

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
      'does not say how it is run',
      { 'cdk.json': {} },
      /cdk\.json does not say how the app is run: give it "app"/,
    ],
    ['is not JSON', { 'cdk.json': '{' }, /cdk\.json is not readable JSON: /],
  ])('that %s is refused, with what to do', (_, files, message) => {
    write(files);
    expect(() => findProject(root)).toThrow(
      expect.objectContaining({ message: expect.stringMatching(message) }),
    );
  });
});

describe('the stack', () => {
  const stackOf = (templateFile: string) => ({
    type: 'aws:cloudformation:stack',
    properties: { templateFile },
  });
  const steadfast = {
    Resources: { F: { Properties: { Environment: { Variables: { STEADFAST_TABLE: 't' } } } } },
  };
  const other = { Resources: {} };

  it('is the one that holds a Steadfast, also in a stage of the app', () => {
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
            properties: { templateFile: 'o.json', stackName: 'Prod-Orders' },
          },
        },
      },
      'assembly-Prod/o.json': steadfast,
    });
    expect(stackIn(root)).toEqual({ assembly: join(root, 'assembly-Prod'), stack: 'Prod-Orders' });
  });

  it('is chosen by name where several hold one', () => {
    write({
      'manifest.json': { artifacts: { A: stackOf('a.json'), B: stackOf('b.json'), C: stackOf('c.json') } },
      'a.json': steadfast,
      'b.json': steadfast,
      'c.json': other,
    });
    expect(stackIn(root, 'B')).toEqual({ assembly: root, stack: 'B' });
    expect(() => stackIn(root)).toThrow('several stacks hold a Steadfast; choose with --stack one of: A, B');
    expect(() => stackIn(root, 'C')).toThrow("no stack 'C' holds one; choose with --stack one of: A, B");
  });

  it('is missed with the line that adds one', () => {
    write({ 'manifest.json': { artifacts: { Web: stackOf('web.json') } }, 'web.json': other });
    expect(() => stackIn(root)).toThrow(
      /^no stack of the app holds a Steadfast: Web\. Add one: new Steadfast\(/,
    );
  });

  it('is missed in an app without any', () => {
    expect(() => stackIn(root)).toThrow(/^the app has no stack\. Add one/);
  });
});
