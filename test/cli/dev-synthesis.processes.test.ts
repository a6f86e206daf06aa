/** How `dev` synthesises an app: the message if it fails, and the stacks for which it bundles code. */

import { readFileSync, symlinkSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { findProject, type Project } from '../../cli/dev/project.ts';
import { synthesise, synthesiseOne } from '../../cli/dev/synthesis.ts';
import { ioOf } from '../../cli/io.ts';
import { eachFolder, writeFiles } from '../fresh-folder.ts';

let root: string;
let said: string;
const io = ioOf({
  out: (text) => {
    said += text;
  },
  err: () => {},
  env: {},
  isTTY: false,
});

eachFolder('dev', (path) => (root = path));
beforeEach(() => {
  said = '';
});

const write = (files: Readonly<Record<string, string>>): void => writeFiles(root, files);
const projectAt = (app = 'node --import tsx bin/app.ts'): Project => findProject(root, app);

describe('synthesis', () => {
  const never = new AbortController().signal;

  test('that fails says what the app said, and nothing else', async () => {
    write({
      'bin/app.ts': `import { DiscoveryError } from '${resolve(import.meta.dirname, '../../lib/infra/discovery.ts')}';
        new (class AppStack { constructor() { throw new DiscoveryError('examples/a/workflow.ts:27 cannot be loaded: 1 error:\\nworkflow.ts:27:3: ERROR: Unexpected ";"\\nand more'); } })();`,
    });
    write({ 'package.json': '{"type":"module"}' });
    symlinkSync(resolve(import.meta.dirname, '../../node_modules'), join(root, 'node_modules'));
    await expect(synthesise(projectAt(), join(root, 'out'), io, never, {})).rejects.toThrow(
      /^examples\/a\/workflow\.ts:27 cannot be loaded: 1 error:\nworkflow\.ts:27:3: ERROR: Unexpected ";"\nand more$/,
    );
    expect(said).toMatch(/^Synthesising the template that would be deployed \(about 5 s\) … failed\n$/);
  });
});

describe('code', () => {
  const signal = new AbortController().signal;
  /** An app with a Steadfast in each stack. It records for which stacks the CDK would bundle code. */
  const APP = `
    const { appendFileSync, mkdirSync, writeFileSync } = require('node:fs');
    const { CDK_CONTEXT_JSON, CDK_OUTDIR } = process.env;
    appendFileSync('asked', JSON.stringify(JSON.parse(CDK_CONTEXT_JSON)['aws:cdk:bundling-stacks'] ?? 'all') + ' ');
    mkdirSync(CDK_OUTDIR, { recursive: true });
    const of = (path) => ({ Metadata: { 'aws:cdk:path': path }, Properties: { Variables: { STEADFAST_TABLE: 't' } } });
    const artifacts = {};
    for (const [path, stackName] of [['Shop', 'Shop'], ['Bank', 'money'], ['Prod/Shop', 'Prod-Shop']]) {
      const templateFile = stackName + '.json';
      artifacts[stackName] = { type: 'aws:cloudformation:stack', displayName: path, properties: { templateFile, stackName } };
      const Resources = { F: of(path + '/It/Scheduler/Function/Resource'), A: of(path + '/It/Scheduler/Api/Resource') };
      writeFileSync(CDK_OUTDIR + '/' + templateFile, JSON.stringify({ Resources }));
    }
    writeFileSync(CDK_OUTDIR + '/manifest.json', JSON.stringify({ artifacts }));
  `;

  test.each([
    ['its name', 'Shop', undefined, '["Shop","*/**"] '],
    ['a name of its own', 'money', undefined, '["money","*/**"] ["Bank","*/**"] '],
    ['a name of its own, known from before', 'money', 'Bank', '["Bank","*/**"] '],
    ['its name in a CDK stage', 'Prod-Shop', undefined, '["Prod-Shop","*/**"] '],
  ])('is made for one stack, by %s', async (_, stack, known, asked) => {
    write({ 'app.cjs': APP });
    const toRun = { project: projectAt(`'${process.execPath}' app.cjs`), context: {}, choice: { stack } };
    const found = await synthesiseOne(toRun, join(root, 'out'), io, signal, known);
    expect([found.stack, readFileSync(join(root, 'asked'), 'utf8')]).toEqual([stack, asked]);
  });
});
