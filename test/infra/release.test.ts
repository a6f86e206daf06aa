/** The release in the supervisors' environment: a hash of all deployed code, and of nothing else. */

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { App, Stack } from 'aws-cdk-lib/core';
import { agentEntry } from '../../lib/infra/bundle.ts';
import { codeSource } from '../../lib/infra/code-source.ts';
import { project } from './fixture.ts';

const handlerOf = (text: string): string => `export const handler = async () => '${text}';`;
const root = project({ 'agents/near.ts': handlerOf('one'), 'agents/far.ts': handlerOf('one') });
const fileOf = (name: string): string => join(root, `agents/${name}.ts`);
const agentOf = (name: string) => ({ name, file: fileOf(name), timeoutMs: 1_000, peers: [] });
const agents = [agentOf('near'), { ...agentOf('far'), runsIn: 'container' as const }];
// The functions of one discovery are bundled once.
const found = { root, workflows: [], agents, triggers: [], warnings: [] };

/** The release before and after functions are added. */
function releasesOf(...names: readonly string[]): readonly [string, string] {
  const { code, release } = codeSource(new Stack(new App({ outdir: project() }), 'S'), found, 'd');
  const before = release();
  for (const name of names) code(name);
  return [before, release()];
}

test('is the same for the same code in any order, and another with another function or image', () => {
  const [images, all] = releasesOf('supervisor', agentEntry('near'));
  expect(all).toMatch(/^[0-9a-f]{16}$/);
  expect(all).not.toBe(images);
  expect(releasesOf(agentEntry('near'), 'supervisor')).toEqual([images, all]);
  writeFileSync(fileOf('far'), handlerOf('two'));
  expect(releasesOf()[0]).not.toBe(images);
});
