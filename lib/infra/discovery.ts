/**
 * The contents of workflow folders.
 *
 * Owns: the shape, and the error about mistakes in it. Does not own: the search (`discover.ts`).
 */

import type { InputShape } from '../author/schemas/reference-check.ts';
import type { DeclaredTrigger } from '../author/triggers/trigger-declaration.ts';
import type { Forms } from './forms.ts';

/**
 * The error about a layout that cannot be deployed. Its message names the file or folder, and the expected
 * layout.
 */
export class DiscoveryError extends Error {
  override readonly name = 'DiscoveryError';

  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    // An app that does not catch it prints the message and the line of the app.
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

/** An agent that a workflow uses. */
export interface FoundAgent {
  /** Its name, the same as its file's. */
  readonly name: string;
  /** The longest time of one attempt, as its author declared it. */
  readonly timeoutMs: number;
  /** Absent for an agent in a function. */
  readonly runsIn?: 'container';
  /** The author's code runs in a process of its own within the function. */
  readonly isolate?: true;
  /** The agent must not act twice, and has no probe. */
  readonly isUnsafe?: true;
  /** How an agent in another language is called (`remoteAgent`). */
  readonly remote?: 'lambda' | 'url' | 'command';
  /** The work, if it is entirely declared (`httpAgent`). */
  readonly declared?: DeclaredWork;
  /** The file that exports `handler`; for an `httpAgent`, the workflow's file. */
  readonly file: string;
  /** All agents of the workflows that use it, itself included; it may have to send to them. */
  readonly peers: readonly string[];
}

export interface FoundLane {
  /** The workflow with the lane: the one that was found, or one of its children. */
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
  /** Set if the workflow, or one of its children, has an approval that another person must give. */
  readonly asksAnother?: true;
  /** Set if the workflow names the tenant of an execution (`fairBy`). */
  readonly isFair?: true;
  /** The lanes of the workflow and of its children. */
  readonly lanes?: readonly FoundLane[];
  /** The names of the messages that its steps receive. */
  readonly messages?: readonly string[];
  /** Absent if its schema does not describe it. */
  readonly input?: InputShape;
  /** The forms that a person can fill in. */
  readonly forms?: Forms;
}

/** A trigger that an author declared beside a workflow. */
export interface FoundTrigger {
  /** The file, relative to the project's folder. */
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
  /** Sorted by name. */
  readonly workflows: readonly FoundWorkflow[];
  /** Sorted by name. */
  readonly agents: readonly FoundAgent[];
  /** In the order of their files. */
  readonly triggers: readonly FoundTrigger[];
  /** Probable mistakes that do not prevent a deployment. */
  readonly warnings: readonly FoundWarning[];
}

/** The lanes as 'workflow/lane'. The template contains them, to compare a deployment with open executions. */
export const laneNames = ({ workflows }: Pick<Discovery, 'workflows'>): string => {
  const all = workflows.flatMap(({ lanes = [] }) => lanes.map(({ workflow, name }) => `${workflow}/${name}`));
  return [...new Set(all)].sort().join(',');
};

export const hasWebhook = (triggers: readonly FoundTrigger[]): boolean =>
  triggers.some(({ trigger }) => trigger.on === 'webhook');

export const hasLanes = ({ workflows }: Pick<Discovery, 'workflows'>): boolean =>
  workflows.some(({ lanes }) => lanes !== undefined);

/** @throws DiscoveryError if one lane has two limits */
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
   * An id with the kind and the place, so that acknowledging one warning acknowledges no other:
   * 'steadfast:testedReference[order/input.gift]'.
   */
  readonly id: string;
  /** The mistake and what to write instead, with file and line if they are known. */
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
