/** What `lib/infra/bundle.ts` puts in the place of this name: the workflows found at synthesis, as one list. */
declare module '@steadfast/workflows' {
  export const workflows: readonly import('steadfast').Workflow[];
}
