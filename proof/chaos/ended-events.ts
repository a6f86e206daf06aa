/**
 * Owns: collecting the end events on the bus, each once, during the run, because the local cloud keeps only
 * the last 1,000.
 */

import type { Control } from '../../local/control/control.ts';

/** The audited part of the event (docs/EVENTS.md). */
export interface EndedEvent {
  readonly executionId: string;
  readonly status: string;
  readonly endedAt: number;
  readonly standing?: {
    readonly stands: number;
    readonly mayStand: number;
    readonly first: readonly {
      readonly step: string;
      readonly effect: 'stands' | 'may-stand';
      readonly executionId?: string;
    }[];
  };
  readonly onFailureFailed?: readonly { readonly step: string; readonly mayStand?: boolean }[];
}

const GATHER_EVERY_MS = 500;

export class EndedEvents {
  readonly #control: Control;
  readonly #known = new Map<string, EndedEvent>();
  #timer: NodeJS.Timeout | undefined;

  constructor(control: Control) {
    this.#control = control;
  }

  begin(): void {
    this.#timer = setInterval(() => this.#gather(), GATHER_EVERY_MS);
  }

  end(): void {
    clearInterval(this.#timer);
    this.#gather();
  }

  all(): readonly EndedEvent[] {
    return [...this.#known.values()];
  }

  #gather(): void {
    for (const { detailType, detail } of this.#control.events()) {
      if (detailType !== 'Steadfast Execution Ended') continue;
      const event = detail as unknown as EndedEvent;
      this.#known.set(`${event.executionId} ${event.endedAt}`, event);
    }
  }
}
