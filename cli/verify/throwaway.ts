/**
 * The stack of `verify` in an account: deployed for one run, and gone after it.
 *
 * Owns: the calls of the CDK's command line, and the proof that nothing is left. Does not own: what is in the
 * stack (`stack/app.ts`).
 *
 * T1 the name of the stack is made for the run: no other stack is ever deleted.
 * T2 once the stack is being removed, nothing is deployed, restored or stopped any more: what an interrupted
 *    run still begins would be left behind.
 */

import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { ENV } from '../../lib/aws/names.ts';
import { packageVersion, typescriptLoader } from '../../lib/project/package-files.ts';
import { CallError, type Calls, inXml } from '../aws/calls.ts';
import { type StackResource, stackResources } from '../aws/stack-resources.ts';
import { readObject } from '../dev/project.ts';
import { CliError, type Clock, CLOCK, EXIT, type Io, messageOf } from '../io.ts';
import { AwsAccount } from '../quiesce/aws.ts';
import { awake, quiesce, unquiesce } from '../quiesce/order.ts';
import { upgrade } from '../upgrade/command.ts';
import { accountSettings } from './account-settings.ts';
import { AwsFaults } from './aws-faults.ts';
import { cdk, type CdkApp } from './cdk.ts';
import { problemsOf, takenChangeSet } from './change-set.ts';
import type { DeploymentPort, Release, RestoredTable } from './ports.ts';
import { removeTable, restoreAs } from './restoring.ts';
import { verifyProject } from './local-stack.ts';

/** What every resource of the stack is tagged with; its value is the stack's name. */
export const VERIFY_TAG = 'steadfast:verify';
const CHANGE_SET = 'steadfast-verify';
const UNASKED = ['--require-approval', 'never'] as const;
/** As the app of an own stack takes it (`lib/infra/synth.ts`). */
const RESTORED = 'steadfast:restoredTable';
/** Tags may be found some minutes late, and for some minutes after what carried them is gone. */
const TAGS_WITHIN_MS = 10 * 60_000;
const POLL_EVERY_MS = 15_000;
/** CloudFormation refuses to delete a stack in the middle of an update, which goes on without its command. */
const UPDATING = /^(?!CREATE|DELETE|REVIEW).*_IN_PROGRESS$/;
const UPDATED_WITHIN_MS = 3_600_000;
/** A function may put a value into a bucket that was just emptied. */
const TRIES = 2;

export interface ThrowawayOptions {
  readonly calls: Calls;
  readonly io: Io;
  readonly stack: string;
  /** Where the release before is installed. */
  readonly before?: string | undefined;
  /** Runs the CDK's command line. */
  readonly run?: typeof cdk;
  readonly clock?: Clock;
}

export class Throwaway implements DeploymentPort {
  readonly stack: string;
  readonly #calls: Calls;
  readonly #io: Io;
  readonly #before: (CdkApp & { readonly release: string }) | undefined;
  readonly #restored: string;
  readonly #run: typeof cdk;
  readonly #clock: Clock;
  #problems: readonly string[] = [];
  /** The call of the CDK that goes on. */
  #running: Promise<unknown> = Promise.resolve();
  #gone: Promise<readonly string[]> | undefined;

  /** @throws CliError `no-release` */
  constructor({ calls, io, stack, before, run = cdk, clock = CLOCK }: ThrowawayOptions) {
    this.#calls = calls;
    this.#io = io;
    this.stack = stack;
    this.#restored = `${stack}-restored`;
    this.#before = before === undefined ? undefined : releaseIn(before);
    this.#run = run;
    this.#clock = clock;
  }

  /** By way of a change set that is not executed: afterwards there is nothing left to change. */
  async deploy(): Promise<void> {
    this.#problems = problemsOf(await this.#changeSetOf(verifyProject()));
    await this.#cdk(['deploy', this.stack, ...UNASKED]);
  }

  /** @returns what CloudFormation says of it; it is gone then, unexecuted */
  async #changeSetOf(project: CdkApp): Promise<string> {
    const given = ['--method', 'prepare-change-set', '--change-set-name', CHANGE_SET];
    await this.#cdk(['deploy', this.stack, ...UNASKED, ...given], project);
    return takenChangeSet(this.#calls, this.stack, CHANGE_SET);
  }

  async changeSet(): Promise<readonly string[]> {
    return this.#problems;
  }

  async atRest(meanwhile: () => Promise<void>): Promise<readonly string[]> {
    const account = await this.#found();
    try {
      await quiesce(account, this.#whileThere, { drain: false, sources: false, say: this.#say });
      await meanwhile();
      return (await awake(account)).map(({ kind, id }) => `${kind} ${id}`);
    } finally {
      if (this.#gone === undefined) await unquiesce(account, { say: this.#say });
    }
  }

  /** A deployment before may have made parts whose tags are found minutes later. */
  async #found(): Promise<AwsAccount> {
    const lastAt = this.#clock.now() + TAGS_WITHIN_MS;
    for (;;) {
      const account = new AwsAccount(this.#calls, this.stack, await this.#besides());
      try {
        await account.find();
        return account;
      } catch (error) {
        const isEarly = error instanceof CliError && ['incomplete', 'no-stack'].includes(error.code);
        if (!isEarly || this.#clock.now() >= lastAt) throw error;
        await this.#whileThere.sleep(POLL_EVERY_MS);
      }
    }
  }

  /** Rules that the stack has for the checks. */
  async #besides(): Promise<readonly string[]> {
    return (await stackResources(this.#calls, this.stack))
      .filter(({ type, logicalId }) => type === 'AWS::Events::Rule' && logicalId.startsWith('OnEnd'))
      .map(({ logicalId }) => logicalId);
  }

  async restoreTable(): Promise<RestoredTable> {
    const table = (await stackResources(this.#calls, this.stack)).find(
      ({ type, logicalId }) => type === 'AWS::DynamoDB::Table' && !logicalId.startsWith('Effects'),
    );
    await restoreAs(this.#calls, this.#whileThere, table?.id ?? '', this.#restored);
    await this.#cdk(['deploy', this.stack, ...UNASKED, '-c', `${RESTORED}=${this.#restored}`]);
    const { functions } = await accountSettings(this.#calls, this.stack);
    const used = functions.flatMap(({ variables }) => variables[ENV.table] ?? []);
    return { name: this.#restored, used: [...new Set(used)] };
  }

  async change(to: 'before' | 'this'): Promise<Release> {
    const project = to === 'this' ? { ...verifyProject(), release: packageVersion() } : this.#before;
    if (project === undefined) throw new CliError('no-release', '--from contains no previous release');
    const { release } = project;
    const problems = problemsOf(await this.#changeSetOf(project));
    if (problems.length > 0) return { release, problems };
    const assembly = mkdtempSync(join(tmpdir(), 'steadfast-verify-'));
    try {
      await this.#cdk(['synth', this.stack, '--quiet', '--output', assembly], project);
      const deploy = (app: string, path: string): Promise<void> =>
        this.#cdk(['deploy', path, '--exclusively', ...UNASKED], { root: project.root, app });
      const { stack } = this;
      await upgrade({ calls: this.#calls, stack, assembly, clock: this.#whileThere, deploy, say: this.#say });
      return { release, problems };
    } finally {
      rmSync(assembly, { recursive: true, force: true });
    }
  }

  /** Deletes what is still there, where the run ended before its teardown, and names what is left. */
  async removed(): Promise<void> {
    for (const arn of await this.tearDown()) this.#say(`${arn} is still there`);
  }

  /** Once: an interrupt may come meanwhile. @throws CliError `not-removed` */
  tearDown(): Promise<readonly string[]> {
    return (this.#gone ??= this.#tornDown());
  }

  async #tornDown(): Promise<readonly string[]> {
    await this.#running.catch(() => undefined);
    const failed: string[] = [];
    const all = async (...steps: readonly (() => Promise<unknown>)[]): Promise<void> => {
      for (const step of steps) await step().catch((error: unknown) => failed.push(messageOf(error)));
    };
    const { stack } = this;
    const faults = new AwsFaults(this.#calls, this.#clock, stack, { roleArn: '' });
    await all(
      () => this.#destroyed(),
      () => removeTable(this.#calls, this.#clock, this.#restored),
      () => faults.endAll(),
    );
    // With the stack nobody needs them. Of one that is left, `unquiesce` restores what was at rest.
    const account = new AwsAccount(this.#calls, stack);
    if (failed.length === 0)
      await all(
        () => account.load(),
        () => account.forget(),
      );
    if (failed.length > 0)
      throw new CliError('not-removed', `'${stack}' could not be removed: ${failed.join('\n')}`, EXIT.failed);
    const lastAt = this.#clock.now() + TAGS_WITHIN_MS;
    for (;;) {
      const left = await this.#tagged();
      if (left.length === 0 || this.#clock.now() >= lastAt) return left;
      await this.#clock.sleep(POLL_EVERY_MS);
    }
  }

  async #destroyed(): Promise<void> {
    for (let left = TRIES; ; left -= 1) {
      await this.#untilUpdated();
      for (const bucket of bucketsIn(await this.#resources())) await this.#empty(bucket);
      try {
        return await this.#cdk(['destroy', this.stack, '--force']);
      } catch (error) {
        if (left <= 1) throw error;
      }
    }
  }

  async #untilUpdated(): Promise<void> {
    const lastAt = this.#clock.now() + UPDATED_WITHIN_MS;
    while (this.#clock.now() < lastAt) {
      const xml = await unlessNoStack(this.#calls.form('DescribeStacks', { StackName: this.stack }));
      const [status = ''] = inXml(xml ?? '', 'StackStatus');
      if (!UPDATING.test(status)) return;
      this.#say(`'${this.stack}' is ${status}`);
      await this.#clock.sleep(POLL_EVERY_MS);
    }
  }

  async #resources(): Promise<readonly StackResource[]> {
    return (await unlessNoStack(stackResources(this.#calls, this.stack))) ?? [];
  }

  async #empty(bucket: string): Promise<void> {
    const { emptied } = await import('./emptied.ts');
    const { defaultProvider } = await import('@aws-sdk/credential-provider-node');
    await emptied({ bucket, region: async () => this.#calls.region, credentials: defaultProvider() });
  }

  /** https://docs.aws.amazon.com/resourcegroupstagging/latest/APIReference/API_GetResources.html */
  async #tagged(): Promise<readonly string[]> {
    const TagFilters = [{ Key: VERIFY_TAG, Values: [this.stack] }];
    const arns: string[] = [];
    const pages = this.#calls.pages(
      (PaginationToken) => this.#calls.json('tagging', 'GetResources', { TagFilters, PaginationToken }),
      'PaginationToken',
    );
    for await (const { ResourceTagMappingList } of pages)
      for (const { ResourceARN } of ResourceTagMappingList as readonly { readonly ResourceARN: string }[])
        arns.push(ResourceARN);
    return arns;
  }

  readonly #say = (line: string): void => {
    this.#io.err(`${line}\n`);
  };

  /** Ends a wait once the stack is being removed (T2). */
  readonly #whileThere: Clock = {
    now: () => this.#clock.now(),
    sleep: async (ms) => {
      await this.#clock.sleep(ms);
      this.#refuseGone();
    },
  };

  #refuseGone(): void {
    if (this.#gone !== undefined) throw new CliError('interrupted', `'${this.stack}' is being removed`);
  }

  async #cdk(args: readonly string[], project: CdkApp = verifyProject()): Promise<void> {
    if (args[0] !== 'destroy') this.#refuseGone();
    const context = ['-c', `steadfast:verifyStack=${this.stack}`];
    const running = this.#run(this.#io, project, this.#calls.region, [...args, ...context]);
    this.#running = running;
    await running;
  }
}

/** @returns nothing where there is no such stack, which CloudFormation says in words alone */
async function unlessNoStack<Result>(asked: Promise<Result>): Promise<Result | undefined> {
  try {
    return await asked;
  } catch (error) {
    if (error instanceof CallError && error.message.includes('does not exist')) return undefined;
    throw error;
  }
}

/** The app of verify as an earlier release has it. */
function releaseIn(folder: string): CdkApp & { readonly release: string } {
  // The CDK runs there, where a path from here leads elsewhere.
  const root = resolve(folder);
  const installed = join(root, 'node_modules/steadfast');
  const app = join(installed, 'dist/cli/verify/stack/app.js');
  if (!existsSync(app))
    throw new CliError(
      'no-release',
      `${app} is not there: install the release before in '${root}' (npm install steadfast@<version> aws-cdk aws-cdk-lib constructs)`,
    );
  const words = [process.execPath, '--import', typescriptLoader(), app];
  const { version } = readObject(join(installed, 'package.json'));
  return { root, app: words.map((each) => `"${each}"`).join(' '), release: String(version) };
}

/** As CloudFormation names them: tags may not be found yet, and a bucket that is left full is not deleted. */
export const bucketsIn = (resources: readonly StackResource[]): string[] =>
  resources.filter(({ type, id }) => type === 'AWS::S3::Bucket' && id !== '').map(({ id }) => id);
