/**
 * Stands for `steadfast` in the bundles of our own roles, which read what workflows declare and host no
 * agent of an author's: what does an agent's work would come into each of them.
 *
 * Names are those of the entry replaced. Owns: the refusal. Does not own: who gets it (`infra/bundle.ts`).
 */

import { type Agent, declareAgent } from './core/plan/agent.ts';
import { refuse } from './core/values/errors.ts';
import { declareInvoke, declarePublish } from './ready/aws-agents.ts';
import { declareHttp } from './ready/http-agent.ts';
import type * as whole from './index.ts';

export * from './index.ts';

const notHere = (name: string) => async (): Promise<never> => {
  throw refuse(
    'bad-agent',
    `agent '${name}' is only declared in this function, so its handler does nothing here. Its work is done by the function made of agents/${name}.ts: send the message to that agent's queue`,
  );
};

export const agent: typeof whole.agent = (name, options) => {
  const declared = declareAgent(name, options) as Agent;
  return { ...declared, handler: () => notHere(name) } as never;
};

export const remoteAgent: typeof whole.remoteAgent = (declared) => notHere(declared.spec.name) as never;

const onlyDeclared = ({ declared }: { readonly declared: object }, name: string): never =>
  ({ ...declared, handler: notHere(name) }) as never;
export const httpAgent: typeof whole.httpAgent = (name, options) =>
  onlyDeclared(declareHttp(name, options), name);
export const invoke: typeof whole.invoke = (name, options) =>
  onlyDeclared(declareInvoke(name, options), name);
export const publish: typeof whole.publish = (name, options) =>
  onlyDeclared(declarePublish(name, options), name);
