/**
 * Deploying one step of an upgrade with the CDK's own command.
 *
 * Owns: the assembly of a template that no app has made, the child process. Does not own: which template
 * (`steps.ts`), credentials and approvals, which are the command's.
 *
 * The code of a deployed template is in the account already, so its assembly has one asset: the template. CDK
 * uploads an asset once by its hash; another template needs another.
 */

import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { type FoundSteadfast, readObject } from '../dev/project.ts';
import { CliError, EXIT } from '../io.ts';
import type { Template, Values } from './steps.ts';

/** Deploys a stack of an assembly. @throws CliError `not-deployed` */
export type Deploy = (assembly: string, stackPath: string) => Promise<void>;

/** @param more arguments of `cdk deploy`, such as a profile */
export const cdkDeploy =
  (root: string, more: readonly string[]): Deploy =>
  async (assembly, stackPath) => {
    const args = ['cdk', 'deploy', stackPath, '--exclusively', '--app', assembly, ...more];
    const child = spawn('npx', args, { cwd: root, stdio: 'inherit', shell: process.platform === 'win32' });
    const [code] = (await once(child, 'close')) as [number | null];
    if (code !== 0)
      throw new CliError(
        'not-deployed',
        `npx ${args.join(' ')} ended with ${String(code)}; once the cause is fixed, run the same command again: it continues from here`,
        EXIT.failed,
      );
  };

/**
 * Writes an assembly of this one stack with another template.
 * @param folder made if it is not there
 * @throws CliError `no-template-asset`
 */
export function writeAssembly(
  { assembly, stackPath, template: file }: Pick<FoundSteadfast, 'assembly' | 'stackPath' | 'template'>,
  template: Template,
  folder: string,
): void {
  mkdirSync(folder, { recursive: true });
  const text = JSON.stringify(template);
  const manifest = readObject(join(assembly, 'manifest.json'));
  const artifacts = Object.entries(Object(manifest['artifacts']) as Record<string, Values>);
  const name = basename(file);
  const [stack, assets] = [
    artifacts.find(([, { properties }]) => Object(properties)['templateFile'] === name),
    artifacts.find(
      ([, { type, properties }]) =>
        type === 'cdk:asset-manifest' && holds(join(assembly, String(Object(properties)['file'])), name),
    ),
  ];
  if (stack === undefined || assets === undefined)
    throw new CliError(
      'no-template-asset',
      `'${stackPath}' does not upload its template as an asset, as stacks of CDK 2 do by default; deploy its indexes one by one`,
      EXIT.failed,
    );
  const assetFile = String(Object(assets[1]['properties'])['file']);
  const { files = {}, ...others } = readObject(join(assembly, assetFile)) as {
    files?: Record<string, Values>;
  };
  const [hash = '', asset] = Object.entries(files).find(([, each]) => pathOf(each) === name) ?? [];
  const fresh = createHash('sha256').update(text).digest('hex');
  const renamed = (value: unknown): unknown => JSON.parse(JSON.stringify(value).replaceAll(hash, fresh));
  const write = (to: string, value: unknown): void =>
    writeFileSync(join(folder, to), typeof value === 'string' ? value : JSON.stringify(value));
  write(name, text);
  write(assetFile, { ...others, files: { [fresh]: renamed(asset) }, dockerImages: {} });
  const own = { ...alone(stack[1]), dependencies: [assets[0]] };
  write('manifest.json', {
    version: manifest['version'],
    artifacts: { [assets[0]]: alone(assets[1]), [stack[0]]: renamed(own) },
  });
}

/** What constructs noted is in a file beside the manifest, which stays with the app. */
const alone = (artifact: Values): Values =>
  Object.fromEntries(Object.entries(artifact).filter(([name]) => name !== 'additionalMetadataFile'));

const pathOf = (asset: Values): unknown => Object(asset['source'])['path'];
const holds = (file: string, template: string): boolean =>
  Object.values(Object(readObject(file)['files']) as Record<string, Values>).some(
    (asset) => pathOf(asset) === template,
  );

/** @throws CliError where it is no JSON */
export const readTemplate = (file: string): Template => JSON.parse(readFileSync(file, 'utf8')) as Template;
