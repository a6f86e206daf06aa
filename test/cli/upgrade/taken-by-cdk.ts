/**
 * Each step of an upgrade is an assembly that the CDK's own command takes by `--app`: it lists its one stack,
 * reads its template, and sees one index more, or one fewer, than the step before.
 */

import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { CloudAssembly } from 'aws-cdk-lib/cx-api';
import { steadfastIn } from '../../../cli/dev/project.ts';
import { readTemplate, writeAssembly } from '../../../cli/upgrade/deploy.ts';
import { stepsOf, type Template } from '../../../cli/upgrade/steps.ts';
import { synthesize } from '../../../lib/infra/synth.ts';

const ROOT = join(import.meta.dirname, '..', '..', '..');
const folder = mkdtempSync(join(tmpdir(), 'steadfast-upgrade-cdk-'));
process.once('exit', () => rmSync(folder, { recursive: true }));

/** @returns what it prints, colours left out */
async function cdk(...args: readonly string[]): Promise<string> {
  const env = {
    ...process.env,
    NODE_OPTIONS: '',
    FORCE_COLOR: '0',
    NO_COLOR: '1',
    AWS_REGION: 'eu-central-1',
  };
  const program = join(ROOT, 'node_modules', 'aws-cdk', 'bin', 'cdk');
  const ran = promisify(execFile)(process.execPath, [program, ...args], { cwd: folder, env });
  const { stdout, stderr } = await ran;
  return stdout + stderr;
}

/** Some of its indexes under other names, as in a release before. */
function earlier(template: Template, count: number): Template {
  const copy = structuredClone(template) as { Resources: Record<string, Record<string, never>> };
  for (const { Type, Properties } of Object.values(copy.Resources) as unknown as readonly {
    readonly Type: string;
    readonly Properties: { readonly GlobalSecondaryIndexes?: { IndexName: string }[] };
  }[])
    if (Type === 'AWS::DynamoDB::Table')
      for (const index of (Properties.GlobalSecondaryIndexes ?? []).slice(-count)) index.IndexName += '-old';
  return copy as unknown as Template;
}

/**
 * @param diffs what the command says of each step, or of the first alone: each takes it seconds
 */
export async function expectTaken(diffs: 'all' | 'first'): Promise<void> {
  const outdir = join(folder, 'cdk.out');
  await synthesize({ outdir, folders: ['examples'], only: ['parcel-labels'], validation: false });
  const found = steadfastIn(outdir);
  const wanted = readTemplate(found.template);
  const deployed = earlier(wanted, 2);
  const steps = stepsOf(deployed, wanted);
  expect(steps.map(({ kind }) => kind)).toEqual(['add-index', 'add-index', 'release', 'remove-index']);
  let before = deployed;
  for (const [at, { kind, index, template }] of steps.entries()) {
    const assembly = join(folder, `step-${at}`);
    writeAssembly(found, template, assembly);
    const [stack, ...others] = new CloudAssembly(assembly).stacks;
    expect([stack?.hierarchicalId, others]).toEqual([found.stackPath, []]);
    if (at === 0) expect(await cdk('ls', '--app', assembly)).toContain(found.stackPath);
    const was = before;
    before = JSON.parse(readFileSync(join(assembly, stack?.templateFile ?? ''), 'utf8')) as Template;
    if (at > 0 && diffs === 'first') continue;
    const known = join(folder, `before-${at}.json`);
    writeFileSync(known, JSON.stringify(was));
    const seen = await cdk('diff', found.stackPath, '--app', assembly, '--template', known);
    const lines = seen.split('\n').filter((line) => /^\[[-+~]\] AWS::/.test(line));
    expect([kind, lines.map((line) => line.split(' ')[1])]).toEqual([kind, ['AWS::DynamoDB::Table']]);
    if (index !== undefined) expect(seen).toContain(`"IndexName": "${index}"`);
  }
  expect(before).toEqual(wanted);
}
