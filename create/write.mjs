/**
 * Writes the files of a new project: a workflow with two agents, a service with faults, a test, the construct
 * in the stack, a CI workflow. A test runs the same templates against the packed package.
 *
 * Owns: the files, and never overwriting one. Does not own: detecting the app's settings (`project.mjs`).
 */

import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';

/** A refused request. Its message has the reason and advice. */
export class Refusal extends Error {}

const TEMPLATES = join(import.meta.dirname ?? dirname(new URL(import.meta.url).pathname), 'templates');
const FOLDER = 'workflows';

const filled = (text, values) =>
  text
    // A placeholder for whole lines is a comment.
    .replace(/^\/\/ __imports__\n/, values.imports ?? '')
    .replace(/^ *# __(setup|place|types)__\n/gm, (_, name) => values[name] ?? '')
    .replaceAll(/__([a-z]+)__/g, (whole, name) => values[name] ?? whole);

function copy(from, to, values, written) {
  for (const name of readdirSync(from, { recursive: true, withFileTypes: true })) {
    if (!name.isFile()) continue;
    const path = join(name.parentPath, name.name);
    const target = join(to, relative(from, path)).replace(/gitignore$/, '.gitignore');
    write(target, filled(readFileSync(path, 'utf8'), values), written);
  }
}

function write(path, text, written) {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
  written.push(path);
}

/** A stack's name has letters, digits and dashes, and begins with a letter. */
const stackName = (name) => name.replaceAll(/[^A-Za-z0-9-]+/g, '-').replace(/^[^A-Za-z]+/, '') || 'App';

/** The folder's name with the characters that npm allows. */
const packageName = (name) =>
  name
    .toLowerCase()
    .replaceAll(/[^a-z0-9._~-]+/g, '-')
    .replace(/^[._-]+/, '') || 'app';

export function newApp(root, name) {
  copy(join(TEMPLATES, 'app'), root, { name: packageName(name), stack: stackName(name) }, []);
}

/**
 * @returns the written files, relative to the project's folder, and what remains to do by hand
 * @throws Refusal if a file to be written exists
 */
export function addToApp(project) {
  const { root, isModule, runner, manager } = project;
  const workflow = join(root, FOLDER, 'hello-greeting');
  const test = join(root, 'test', 'hello-greeting.test.ts');
  const there = [workflow, test].filter((path) => existsSync(path)).map((path) => relative(root, path));
  if (there.length > 0)
    throw new Refusal(`${there.join(' and ')} is there already: move it away first; nothing was written`);
  const values = {
    // TypeScript requires an extension only in imports of ES modules.
    ending: isModule ? '.js' : '',
    folder: FOLDER,
    imports: runner === 'jest' ? '' : "import { afterAll, beforeAll, expect, test } from 'vitest';\n",
    manager: manager.name,
    install: manager.ci,
    test: manager.run('test'),
    // A separate step, unless the tests check types.
    types: checksTypes(project) ? '' : '      - run: npx tsc --noEmit\n',
    setup: setupOf(manager),
    ...placeOf(project),
  };
  const written = [];
  copy(join(TEMPLATES, 'workflow'), workflow, values, written);
  const template = (name) => filled(readFileSync(join(TEMPLATES, name), 'utf8'), values);
  write(test, template('hello-greeting.test.ts'), written);
  const ci = join(project.repository.top, '.github', 'workflows', 'ci.yml');
  const hasCi = existsSync(dirname(ci));
  if (!hasCi) write(ci, template('ci.yml'), written);
  ignore(root, written);
  addScript(project, written);
  const byHand = [...addConstruct(root, written), ...settleYarn(project, written)];
  if (hasCi)
    byHand.push(
      `There are workflows in ${relative(root, dirname(ci))}: have one run ${[values.install, ...(checksTypes(project) ? [] : ['npx tsc --noEmit']), values.test, 'npx cdk synth --quiet'].join(', ')}.\n`,
    );
  if (runner === undefined)
    byHand.push(
      'The test is for vitest: install it, or change the first line of test/hello-greeting.test.ts.',
    );
  return { written: written.map((path) => relative(root, path)), byHand };
}

const checksTypes = ({ manifest }) => /\btsc\b/.test(manifest.scripts?.test ?? '');

/**
 * GitHub finds workflows only at the top of a repository. For an app below it, the workflow changes to the
 * folder of the app; a workspace's lock file may lie above that.
 */
const placeOf = ({ repository: { app }, manager }) =>
  app === ''
    ? { lock: '' }
    : {
        place: `defaults: { run: { working-directory: ${JSON.stringify(app)} } }\n`,
        lock: `, cache-dependency-path: '**/${manager.lock}'`,
      };

/** Installs the package manager before setup-node, because setup-node can only cache for an installed one. */
function setupOf({ name, modernYarn }) {
  if (name === 'pnpm') return '      - run: npm install --global pnpm\n';
  return modernYarn === undefined ? '' : '      - run: corepack enable\n';
}

function settleYarn({ root, manager: { modernYarn } }, written) {
  if (modernYarn === undefined || modernYarn.hasModules) return [];
  if (modernYarn.version === undefined)
    return [
      'TypeScript and esbuild need node_modules: nodeLinker: node-modules in .yarnrc.yml, then yarn install.\n',
    ];
  write(join(root, '.yarnrc.yml'), 'nodeLinker: node-modules\n', written);
  return [];
}

function ignore(root, written) {
  const path = join(root, '.gitignore');
  const text = existsSync(path) ? readFileSync(path, 'utf8') : '';
  if (text.split('\n').includes('.steadfast/')) return;
  write(path, `${text === '' || text.endsWith('\n') ? text : `${text}\n`}.steadfast/\n`, written);
}

function addScript({ root, manifest, manager: { modernYarn } }, written) {
  if (manifest.scripts?.dev !== undefined) return;
  const scripts = { ...manifest.scripts, dev: 'steadfast dev' };
  // Tells corepack the version of Yarn.
  const yarn = modernYarn?.version === undefined ? {} : { packageManager: `yarn@${modernYarn.version}` };
  const changed = { ...manifest, ...yarn, scripts };
  write(join(root, 'package.json'), `${JSON.stringify(changed, null, 2)}\n`, written);
}

const IMPORT = "import { Steadfast, Workflows } from 'steadfast/cdk';";
const LINE = `new Steadfast(this, 'Steadfast', { workflows: Workflows.fromFolder('${FOLDER}'), hosting: 'shared' });`;

/** Adds the construct after `super(…)` of the only stack in `lib`; otherwise a person must add it. */
function addConstruct(root, written) {
  const lib = join(root, 'lib');
  const stacks = existsSync(lib)
    ? readdirSync(lib)
        .filter((name) => name.endsWith('.ts') && !name.endsWith('.d.ts'))
        .map((name) => join(lib, name))
        .filter((path) => /extends\s+(?:\w+\.)?Stack\b/.test(readFileSync(path, 'utf8')))
    : [];
  const texts = stacks.map((path) => readFileSync(path, 'utf8'));
  if (texts.some((text) => text.includes('steadfast/cdk'))) return [];
  const [text] = texts;
  const place = text === undefined ? null : /\n([ \t]*)super\([^;]*\);/.exec(text);
  const imports = text === undefined ? [] : [...text.matchAll(/^import .*$/gm)];
  if (stacks.length !== 1 || place === null || imports.length === 0) {
    return [`Add the construct to your stack:\n  ${IMPORT}\n  ${LINE}\n`];
  }
  const last = imports.at(-1);
  const end = last.index + last[0].length;
  const after = place.index + place[0].length;
  const changed = `${text.slice(0, end)}\n${IMPORT}${text.slice(end, after)}\n\n${place[1]}${LINE}${text.slice(after)}`;
  write(stacks[0], changed, written);
  return [];
}
