/**
 * The contents of workflow folders.
 *
 * Owns: the shape, and the error of what is found wrong. Does not own: the search (`discover.ts`).
 */

import type { InputShape } from '../author/schemas/reference-check.ts';
import type { DeclaredTrigger } from '../author/triggers/trigger-declaration.ts';
import type { Forms } from './forms.ts';

/** A layout that cannot be deployed; says which file or folder, and what is expected. */
export class DiscoveryError extends Error {
  override readonly name = 'DiscoveryError';

  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    // An app that does not catch it prints this: the sentence, and where the app asked.
    const frames = (this.stack ?? '').split('\n').filter((line) => line.startsWith('    at '));
    const own = frames.filter((line) => !/node:|node_modules/.test(line));
    this.stack = [`${this.name}: ${message}`, ...own].join('\n');
  }
}

/** The names of the secret that an `httpAgent` sends. */
export interface DeclaredWork {
  readonly secret?: {
    readonly env: string;
    readonly parameter?: string;
    readonly secretsManager?: string;
  };
}

/** An agent whose handler was found in an `agents` folder. */
export interface FoundAgent {
  /** Its name: that of its file. */
  readonly name: string;
  /** One attempt's longest time, as its author declared it. */
  readonly timeoutMs: number;
  /** Absent: in a function. */
  readonly runsIn?: 'container';
  /** Its author's code runs in a process of its own within the function. */
  readonly isolate?: true;
  /** It must not act twice, and nobody can ask what it did. */
  readonly isUnsafe?: true;
  /** What does its work, of an agent in another language (`remoteAgent`). */
  readonly remote?: 'lambda' | 'url' | 'command';
  /** Its whole work is declared (`httpAgent`). */
  readonly declared?: DeclaredWork;
  /** The file that exports `handler`; for an `httpAgent`, the workflow's file. */
  readonly file: string;
  /** All agents of the workflows it takes part in, itself included: those it may have to send to. */
  readonly peers: readonly string[];
}

export interface FoundLane {
  /** The workflow with the lane: the one that was found, or one below it. */
  readonly workflow: string;
  readonly name: string;
  readonly atMost: number;
}

/** A workflow that a file exports. */
export interface FoundWorkflow {
  /** The name that its author gave it. */
  readonly name: string;
  /** The absolute path of its file. */
  readonly file: string;
  /** The name under which `file` exports it. */
  readonly exportName: string;
  /** The agents that its steps need. */
  readonly agents: readonly string[];
  /** An approval of it, or of a workflow below it, must be another person's. */
  readonly asksAnother?: true;
  /** It says whose its executions are (`fairBy`). */
  readonly isFair?: true;
  /** Its lanes, and those of the workflows below it. */
  readonly lanes?: readonly FoundLane[];
  /** The names of the messages that its steps receive. */
  readonly messages?: readonly string[];
  /** Absent: its schema does not say it. */
  readonly input?: InputShape;
  /** The forms that a person can fill in. */
  readonly forms?: Forms;
}

/** What starts a workflow, as its author has written beside it. */
export interface FoundTrigger {
  /** From the project's folder. */
  readonly file: string;
  /** The name under which `triggers.ts` exports it. */
  readonly exportName: string;
  /** The declared trigger. */
  readonly trigger: DeclaredTrigger;
}

/** The contents of a folder of workflows: resources to deploy, and warnings for its author. */
export interface Discovery {
  /** The project's folder: relative paths start there, and generated modules are in its `cdk.out`. */
  readonly root: string;
  /** By name. */
  readonly workflows: readonly FoundWorkflow[];
  /** By name. */
  readonly agents: readonly FoundAgent[];
  /** In the order of their files. */
  readonly triggers: readonly FoundTrigger[];
  /** What deploys, and is probably a mistake. */
  readonly warnings: readonly FoundWarning[];
}

/** Each as 'workflow/lane', for the template: a deployment is compared by it with what is under way. */
export const laneNames = ({ workflows }: Pick<Discovery, 'workflows'>): string => {
  const all = workflows.flatMap(({ lanes = [] }) => lanes.map(({ workflow, name }) => `${workflow}/${name}`));
  return [...new Set(all)].sort().join(',');
};

export const hasWebhook = (triggers: readonly FoundTrigger[]): boolean =>
  triggers.some(({ trigger }) => trigger.on === 'webhook');

export const hasLanes = ({ workflows }: Pick<Discovery, 'workflows'>): boolean =>
  workflows.some(({ lanes }) => lanes !== undefined);

/** @throws DiscoveryError where one lane would have two limits */
export function checkLanes(workflows: readonly FoundWorkflow[]): void {
  const known = new Map<string, { readonly workflow: string; readonly atMost: number }>();
  for (const { name: workflow, lanes = [] } of workflows)
    for (const { name, atMost } of lanes) {
      const other = known.get(name);
      known.set(name, { workflow, atMost });
      if (other !== undefined && other.atMost !== atMost)
        throw new DiscoveryError(
          `lane '${name}' has the limit ${other.atMost} in workflow '${other.workflow}' and ${atMost} in '${workflow}': one name is one lane; write the same number, or give one of them another name`,
        );
    }
}

/** An oddity that does not prevent a deployment. */
export interface FoundWarning {
  /**
   * Names kind and place, so that acknowledging one warning acknowledges no other:
   * 'steadfast:testedReference[order/input.gift]'.
   */
  readonly id: string;
  /** The mistake and what to write, with file and line where they are known. */
  readonly message: string;
}

export interface DiscoverProps {
  /** The project's folder. */
  readonly root: string;
  /**
   * Folders whose subfolders are workflow folders, relative to `root` or absolute.
   */
  readonly folders: readonly string[];
  /**
   * Names of the workflow folders to take.
   * @default - all
   */
  readonly only?: readonly string[];
}
