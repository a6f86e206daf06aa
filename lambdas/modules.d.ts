/** Names that no package has: `lib/infra/bundle.ts` puts what was found at synthesis in their place. */

/** All workflows, as one list. */
declare module '@steadfast/workflows' {
  export const workflows: readonly import('steadfast').Workflow[];
}

/** The files of a host's agents, by their names; each is loaded at its first message. */
declare module '@steadfast/agents' {
  export const agents: Parameters<typeof import('../lib/agent/host-handler.ts').hostHandler>[0];
}

/**
 * The file of one agent, which makes its handler around the author's code:
 * `chargeCard.handler({ execute, probe, undo })`.
 */
declare module '@steadfast/agent' {
  export const handler: import('../lib/agent/handler.ts').AgentHandler;
}
