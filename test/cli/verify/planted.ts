/** The assembly of `steadfast verify`'s own stack, and its template with one fault. */

import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';

export const ROOT = join(import.meta.dirname, '..', '..', '..');
export const STACK = 'Steadfast-verify';

export type Resource = { Type: string; Properties: Record<string, unknown> };
export type Template = { Resources: Record<string, Resource> };

/** Synthesises the stack into a folder. @returns its template */
export async function synthesized(assembly: string): Promise<Template> {
  await promisify(execFile)(process.execPath, ['--import', 'tsx', 'cli/verify/stack/app.ts'], {
    cwd: ROOT,
    env: {
      ...process.env,
      NODE_OPTIONS: '',
      CDK_VALIDATION: 'false',
      CDK_OUTDIR: assembly,
      CDK_CONTEXT_JSON: JSON.stringify({ 'aws:cdk:enable-path-metadata': true }),
    },
  });
  return JSON.parse(readFileSync(join(assembly, `${STACK}.template.json`), 'utf8')) as Template;
}

/** @returns a copy in which the first resource of a type that fits is changed */
export function changed(
  template: Template,
  type: string,
  act: (resource: Resource) => unknown,
  fits: (resource: Resource) => boolean = () => true,
): Template {
  const copy = structuredClone(template);
  const found = Object.values(copy.Resources).find((each) => each.Type === type && fits(each));
  if (found === undefined) throw new Error(`no ${type} in the template`);
  act(found);
  return copy;
}
