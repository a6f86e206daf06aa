/** Names that no package has: `lib/infra/bundle.ts` puts what was found at synthesis in their place. */

/** All workflows, as one list. */
declare module '@steadfast/workflows' {
  export const workflows: readonly import('steadfast').Workflow[];
}

/**
 * The file of one agent, which makes its handler around the author's code:
 * `chargeCard.handler({ execute, probe, undo })`.
 */
declare module '@steadfast/agent' {
  export const handler: import('../lib/agent/handler.ts').AgentHandler;
}
