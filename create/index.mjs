#!/usr/bin/env node
/**
 * `npm create steadfast@latest`: makes a new project, or adds Steadfast to the CDK app in this folder. It
 * overwrites no file.
 *
 * Owns: arguments and output. Does not own: the files (`write.mjs`), detecting the app's settings
 * (`project.mjs`).
 */

import './node-version.cjs';
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { basename, join, relative, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { managerOf, projectAt } from './project.mjs';
import { addToApp, newApp, Refusal } from './write.mjs';

/** The package manager, as it names itself; undefined in a clone of the repository. */
const AGENT = process.env.npm_config_user_agent;
const COMMAND = AGENT ? 'npm create steadfast@latest' : 'node create/index.mjs';
const OWN = JSON.parse(readFileSync(new URL('./package.json', import.meta.url), 'utf8'));
/** Whether npm can install the package; false before the first release. */
const isPublished = OWN.version !== '0.0.0';

const HELP = `${COMMAND} [folder] ${AGENT ? '[-- options]' : '[options]'}

In a folder with a cdk.json: adds a workflow, its test and the construct to that app. Else: starts a new app.

  --package <spec>  of steadfast: a version, or a tarball         (default: latest)
  --no-install      write the files alone
  --help

Example:
  ${COMMAND} my-app
`;

function main() {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      package: { type: 'string', default: 'latest' },
      'no-install': { type: 'boolean', default: false },
      help: { type: 'boolean', short: 'h', default: false },
    },
  });
  if (values.help) return console.log(HELP);
  const [folder = '.', ...rest] = positionals;
  if (rest.length > 0)
    throw new Refusal(`one folder is taken, and there are ${positionals.length}: ${positionals.join(', ')}`);
  if (values.package === 'latest' && !isPublished && !values['no-install'])
    throw new Refusal(
      'steadfast is not published yet, so npm cannot install it: in the clone run npm pack, then give --package <clone>/steadfast-0.0.0.tgz. Nothing was written',
    );
  const root = resolve(folder);
  const isThere = existsSync(join(root, 'cdk.json'));
  if (!isThere && existsSync(root) && readdirSync(root).some((name) => name !== '.git')) {
    throw new Refusal(
      `${root} has files and no cdk.json: give the name of a new folder (${COMMAND} my-app), or run this in the folder of a CDK app`,
    );
  }
  mkdirSync(root, { recursive: true });
  if (!isThere) newApp(root, basename(root));
  const project = projectAt(root, managerOf(root, AGENT), AGENT);
  const { written, byHand } = addToApp(project);
  for (const file of written) console.log(`  wrote ${file}`);
  const spec = values.package.endsWith('.tgz') ? resolve(values.package) : `steadfast@${values.package}`;
  const command = project.manager.add([spec, 'zod']);
  if (values['no-install']) console.log(`\nInstall: ${command.join(' ')}`);
  else install(command, root);
  const place = relative(process.cwd(), root);
  console.log(`
${[...byHand, 'Next:'].join('\n')}
${place === '' ? '' : `  cd ${place}\n`}  ${project.manager.run('test')}
  npx steadfast dev --try   # the whole system on this machine, and one execution of it; Ctrl-C stops it
`);
}

function install([program, ...args], cwd) {
  console.log(`\n${[program, ...args].join(' ')}`);
  const { status, error } = spawnSync(program, args, {
    cwd,
    stdio: 'inherit',
    shell: process.platform === 'win32',
  });
  if (status !== 0) {
    throw new Refusal(
      `${program} did not install (${error?.message ?? `exit ${status}`}); the files are written. Once its error is fixed: ${[program, ...args].join(' ')}`,
    );
  }
}

try {
  main();
} catch (error) {
  const isUsage = error instanceof Refusal || error?.code?.startsWith?.('ERR_PARSE_ARGS');
  console.error(isUsage ? `${error.message}\n(--help for the options)` : error);
  process.exitCode = isUsage ? 2 : 1;
}
