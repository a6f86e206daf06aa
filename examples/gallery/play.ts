/**
 * Plays scenes of an example on a local cloud, waits for their ends, and audits the results.
 *
 * Owns: the subjects, the time, the judgement. Does not own: what a scene does
 * (`example.ts` of each folder), the cloud.
 */

import { readdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { LocalCloud } from 'steadfast/testing';
import type { Audit, Example, Finding, OutsideWorld, Played, Scene, Stage } from './example.ts';

const EXAMPLES = resolve(import.meta.dirname, '..');
const LOOK_EVERY_MS = 100;

/** The folders that have an `example.ts`. */
export const exampleNames = (): readonly string[] =>
  readdirSync(EXAMPLES, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name)
    .filter((name) => {
      const files = readdirSync(join(EXAMPLES, name));
      return files.includes('workflow.ts') && files.includes('example.ts');
    })
    .sort();

export async function loadExample(name: string): Promise<Example> {
  const { default: example } = (await import(pathToFileURL(join(EXAMPLES, name, 'example.ts')).href)) as {
    readonly default: Example;
  };
  return example;
}

export interface Performance {
  readonly name: string;
  readonly example: Example;
  readonly played: readonly Played[];
  readonly audit: Audit;
}

/** The last line of a run, without the name of its object. */
export interface Counts {
  readonly executions: number;
  readonly asExpected: number;
  readonly doubled: number;
  readonly lost: number;
  readonly leftBehind: number;
  readonly stuck: number;
}

/**
 * Plays all scenes at once, round after round.
 * @param again whether to play another round, by its number, from 0
 * @param untilAt an execution that has not ended by then is stuck
 */
export async function perform(
  name: string,
  cloud: LocalCloud,
  again: (round: number) => boolean,
  untilAt: number,
  onEnd: (played: Played) => void = () => undefined,
): Promise<Performance> {
  const example = await loadExample(name);
  const stage = stageOn(cloud, example, untilAt);
  const played: Played[] = [];
  for (let round = 0; again(round) && Date.now() < untilAt; round += 1) {
    const playOne = async (scene: Scene): Promise<void> => {
      const one = await playedOnce(stage, scene, `${scene.name}-${round + 1}`, untilAt);
      played.push(one);
      onEnd(one);
    };
    await Promise.all(example.scenes.map(playOne));
  }
  const audit = await Promise.resolve(example.audit({ stage, played })).catch(
    (error: unknown): Audit => ({
      ledger: 'it could not be read',
      findings: [{ kind: 'other', text: `the audit failed: ${messageOf(error)}` }],
    }),
  );
  return { name, example, played: inOrder(played, example.scenes), audit };
}

const inOrder = (played: readonly Played[], scenes: readonly Scene[]): readonly Played[] =>
  played.toSorted((one, other) => scenes.indexOf(one.scene) - scenes.indexOf(other.scene));

async function playedOnce(stage: Stage, scene: Scene, subject: string, untilAt: number): Promise<Played> {
  try {
    const executionId = await inTime(scene.play(stage, subject), untilAt);
    if (executionId === undefined) return { scene, subject };
    const end = await inTime(stage.client.waitForEnd(executionId), untilAt);
    return end === undefined ? { scene, subject } : { scene, subject, end };
  } catch (error) {
    return { scene, subject, problem: messageOf(error) };
  }
}

/** The result, or undefined if the time is up first. */
async function inTime<T>(what: Promise<T>, untilAt: number): Promise<T | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const over = new Promise<undefined>((done) => {
    timer = setTimeout(() => done(undefined), Math.max(0, untilAt - Date.now()));
  });
  // A rejection after the time is up does not matter.
  what.catch(() => undefined);
  return Promise.race([what, over]).finally(() => clearTimeout(timer));
}

function stageOn(cloud: LocalCloud, { world: variable }: Example, untilAt: number): Stage {
  const url = cloud.environment[variable];
  if (url === undefined)
    throw new Error(
      `no dev.ts gives ${variable}; there are ${Object.keys(cloud.environment).join(', ') || 'none'}`,
    );
  return {
    cloud,
    client: cloud.client,
    world: worldAt(url),
    until: async (what, look) => {
      for (;;) {
        const found = await look();
        if (found !== undefined) return found;
        if (Date.now() > untilAt) throw new Error(`waited in vain for ${what}`);
        await new Promise((done) => setTimeout(done, LOOK_EVERY_MS));
      }
    },
  };
}

function worldAt(url: string): OutsideWorld {
  const ask = async (method: string, path: string, body?: object): Promise<unknown> => {
    const response = await fetch(`${url}${path}`, {
      method,
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    if (!response.ok)
      throw new Error(`${method} ${path} was answered ${response.status}: ${await response.text()}`);
    return response.json();
  };
  return {
    url,
    behave: async (rule) => {
      await ask('POST', '/behave', rule);
    },
    ledger: async <E>() => ((await ask('GET', '/ledger')) as { entries: E[] }).entries,
  };
}

export const messageOf = (error: unknown): string =>
  (Object(error) as { message?: string }).message ?? String(error);

/** Why a scene did not go as expected; empty if it did. */
export function problemsOf({ scene, subject, end, problem }: Played, { findings }: Audit): readonly string[] {
  const own = findings
    .filter((finding) => finding.subject === subject)
    .map(({ kind, text }) => `${kind}: ${text}`);
  if (problem !== undefined) return [problem, ...own];
  if (end === undefined) return ['stuck: it has not ended in time', ...own];
  const status = scene.ends.includes(end.status)
    ? []
    : [`it is ${end.status}, and not ${scene.ends.join(' or ')}`];
  return [...status, ...own];
}

export function countsOf(all: readonly Performance[]): Counts {
  const findings = all.flatMap(({ audit }) => audit.findings);
  const played = all.flatMap((one) => one.played.map((each) => ({ each, audit: one.audit })));
  const ofKind = (kind: Finding['kind']): number =>
    findings.filter((finding) => finding.kind === kind).length;
  return {
    executions: played.length,
    asExpected: played.filter(({ each, audit }) => problemsOf(each, audit).length === 0).length,
    doubled: ofKind('doubled'),
    lost: ofKind('lost'),
    leftBehind: ofKind('leftBehind'),
    stuck: played.filter(({ each }) => each.end === undefined && each.problem === undefined).length,
  };
}

/** Findings that belong to no scene count as well. */
export const isWell = (all: readonly Performance[]): boolean => {
  const { executions, asExpected } = countsOf(all);
  return asExpected === executions && all.every(({ audit }) => audit.findings.length === 0);
};
