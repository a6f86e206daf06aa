/**
 * Reads a synthesised cloud assembly (`cdk.out`): the stack, its template, the paths of its assets. Does not
 * own: resolving the template.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { isRecord, type Json, TemplateError } from './json.ts';

/** One stack of an assembly, as files. */
export interface Assembly {
  readonly stackName: string;
  readonly template: Json;
  /** The local folder or file behind an S3 object key (`<hash>.zip` → `…/asset.<hash>`). */
  readonly assetPath: (objectKey: string) => string | undefined;
  /** The absolute path of a file of the assembly (`aws:asset:path` in a resource's metadata). */
  readonly filePath: (relative: string) => string;
}

interface StackFile {
  readonly stackName: string;
  readonly templateFile: string;
}

/**
 * Opens the assembly in `directory` and picks the stack (the only one, or the one named).
 * @throws TemplateError if there is no assembly, or not exactly one matching stack
 */
export function readAssembly(directory: string, stack?: string): Assembly {
  const root = resolve(directory);
  const stacks = findStacks(root);
  if (stacks.length === 0) {
    throw new TemplateError(
      '',
      `no stack template in ${root}: run "cdk synth" first, or name the right folder`,
    );
  }
  const names = stacks.map((each) => each.stackName);
  const wanted = stack ?? (names.length === 1 ? names[0] : undefined);
  const chosen = stacks.find((each) => each.stackName === wanted);
  if (chosen === undefined) {
    const problem = stack === undefined ? 'several stacks' : `no stack "${stack}"`;
    throw new TemplateError('', `${problem} in ${root}: choose one of ${names.join(', ')}`);
  }
  const assets = readAssets(root, chosen.templateFile);
  return {
    stackName: chosen.stackName,
    template: readJson(join(root, chosen.templateFile)),
    assetPath: (objectKey) => assets.get(objectKey),
    filePath: (relative) => resolve(root, relative),
  };
}

function findStacks(root: string): StackFile[] {
  if (!existsSync(root)) return [];
  const manifestPath = join(root, 'manifest.json');
  const manifest = existsSync(manifestPath) ? readJson(manifestPath) : null;
  const artifacts = isRecord(manifest) ? manifest['artifacts'] : undefined;
  if (isRecord(artifacts)) {
    const stacks: StackFile[] = [];
    for (const [id, artifact] of Object.entries(artifacts)) {
      if (!isRecord(artifact) || artifact['type'] !== 'aws:cloudformation:stack') continue;
      const properties = isRecord(artifact['properties']) ? artifact['properties'] : {};
      const stackName = typeof properties['stackName'] === 'string' ? properties['stackName'] : id;
      stacks.push({ stackName, templateFile: String(properties['templateFile']) });
    }
    return stacks;
  }
  const suffix = '.template.json';
  const files = readdirSync(root).filter((file) => file.endsWith(suffix));
  return files.map((templateFile) => ({ stackName: templateFile.slice(0, -suffix.length), templateFile }));
}

function readAssets(root: string, templateFile: string): Map<string, string> {
  const assets = new Map<string, string>();
  const path = join(root, templateFile.replace('.template.json', '.assets.json'));
  const manifest = existsSync(path) ? readJson(path) : null;
  const files = isRecord(manifest) ? manifest['files'] : undefined;
  if (!isRecord(files)) return assets;
  for (const file of Object.values(files)) {
    if (!isRecord(file) || !isRecord(file['source']) || !isRecord(file['destinations'])) continue;
    const source = resolve(root, String(file['source']['path']));
    for (const destination of Object.values(file['destinations'])) {
      if (isRecord(destination)) assets.set(String(destination['objectKey']), source);
    }
  }
  return assets;
}

function readJson(path: string): Json {
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as Json;
  } catch (error) {
    throw new TemplateError(
      '',
      `${path} is not readable JSON: ${error instanceof Error ? error.message : ''}`,
    );
  }
}
