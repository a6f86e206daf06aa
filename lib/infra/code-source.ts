/**
 * Where the code of a deployment's functions and images comes from: one bundling of
 * everything that was found, or none.
 *
 * Owns: which bundle is whose, and where its assets are written. Does not own: the bundling (`bundle.ts`,
 * `bundle-container.ts`).
 */

import { join } from 'node:path';
import { Code } from 'aws-cdk-lib/aws-lambda';
import { Stack, Stage } from 'aws-cdk-lib/core';
import type { Construct } from 'constructs';
import { BUNDLES, TRIGGER_FILE } from '../aws/names.ts';
import { bundleDeployment, codeOf, withFile } from './bundle.ts';
import { bundleContainers } from './bundle-container.ts';
import type { Discovery } from './discovery.ts';

/** Context: the agent that a debugger attaches to; `steadfast dev --inspect` sets it. */
const INSPECTED = 'steadfast:inspected';
/**
 * What was found is bundled once, for however many stacks: stages of an app
 * differ in settings, and not in code.
 */
const bundled = new WeakMap<Discovery, ReturnType<typeof bundleDeployment>>();

export interface CodeSource {
  /** @param trigger of a starter: the folder of its asset, and the file beside the code */
  readonly code: (name: string, trigger?: { readonly asset: string; readonly file: string }) => Code;
  readonly imageFolder: (agentName: string) => string | undefined;
}

/**
 * Bundles unless CDK says that this stack needs no code (as in `cdk list`, and in tests of the template).
 * @param deploymentName the folder of its assets in the assembly, which several deployments may share
 */
export function codeSource(scope: Construct, found: Discovery, deploymentName: string): CodeSource {
  if (!Stack.of(scope).bundlingRequired) {
    return {
      code: () => Code.fromInline('exports.handler = async () => {};'),
      imageFolder: () => undefined,
    };
  }
  const inspected: unknown = scope.node.tryGetContext(INSPECTED);
  const bundles =
    bundled.get(found) ?? bundleDeployment(found, typeof inspected === 'string' ? inspected : undefined);
  bundled.set(found, bundles);
  const folder = join(Stage.of(scope)?.outdir ?? found.root, BUNDLES, deploymentName);
  const images = bundleContainers(found, folder);
  const code: CodeSource['code'] = (name, trigger) => {
    const bundle = bundles.get(name);
    if (bundle === undefined)
      throw new Error(`no bundle for '${name}'; there are ${[...bundles.keys()].join(', ')}`);
    if (trigger === undefined) return codeOf(name, bundle, folder);
    return codeOf(trigger.asset, withFile(bundle, TRIGGER_FILE, trigger.file), folder);
  };
  return { code, imageFolder: (name) => images.get(name) };
}
