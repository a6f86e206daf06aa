/** Module names without a package: `lib/infra/bundle.ts` replaces them with what was found at synthesis. */

/** All workflows, as one list. */
declare module '@steadfast/workflows' {
  export const workflows: readonly import('steadfast').Workflow[];
}

/** The files of a host's agents, by name; each is loaded at its first message. */
declare module '@steadfast/agents' {
  export const agents: Parameters<typeof import('../lib/agent/host-handler.ts').hostHandler>[0];
}

/** The file of one agent, which builds its handler around the author's code. */
declare module '@steadfast/agent' {
  export const handler: import('../lib/agent/handler.ts').AgentHandler;
}
