/**
 * Reads the pages of the list: another one when the reader scrolls to the end, and the visible ones
 * repeatedly.
 *
 * Owns: the pages and their cursors. Does not own: how often they are read (`../live.ts`), the filters
 * (`filters.ts`).
 */

import { type Signal, signal } from '@preact/signals';
import type { ExecutionSummary, ListPage } from '../../lib/api/answers.ts';
import type { ListOptions } from '../../lib/api/call-options.ts';
import { api } from '../api.ts';

export const PAGE = 100;

interface Page {
  /** The cursor of the page; the first page has none. */
  readonly cursor?: string;
  readonly page: ListPage;
}

/** One page and its index. */
export interface PageRead {
  readonly at: number;
  readonly page: ListPage;
}

export class Pages {
  readonly read: Signal<readonly Page[]> = signal([]);
  readonly isReading: Signal<boolean> = signal(false);
  readonly error: Signal<unknown> = signal(undefined);
  private readonly asked: () => ListOptions;

  /** @param before the last page shown of the same list */
  constructor(asked: () => ListOptions, before?: PageRead) {
    this.asked = asked;
    if (before?.at === 0) this.read.value = [{ page: before.page }];
  }

  /** All executions without duplicates, because one may have moved to another page between two reads. */
  items(): readonly ExecutionSummary[] {
    const byId = new Map<string, ExecutionSummary>();
    for (const { page } of this.read.value)
      for (const item of page.items) if (!byId.has(item.executionId)) byId.set(item.executionId, item);
    return [...byId.values()];
  }

  hasMore(): boolean {
    const last = this.read.value.at(-1);
    return last !== undefined && last.page.cursor !== undefined;
  }

  /** Reads one page again. @returns the page */
  async again(index: number): Promise<PageRead> {
    const at = Math.min(index, Math.max(0, this.read.peek().length - 1));
    const cursor = this.read.peek()[at]?.cursor;
    const page = await this.one(cursor);
    const pages = [...this.read.peek()];
    pages[at] = { page, ...(cursor === undefined ? {} : { cursor }) };
    this.read.value = pages;
    return { at, page };
  }

  async more(): Promise<void> {
    const cursor = this.read.peek().at(-1)?.page.cursor;
    if (cursor === undefined || this.isReading.peek()) return;
    this.isReading.value = true;
    this.error.value = undefined;
    try {
      const page = await this.one(cursor);
      this.read.value = [...this.read.peek(), { cursor, page }];
    } catch (error) {
      this.error.value = error;
    } finally {
      this.isReading.value = false;
    }
  }

  private one(cursor: string | undefined): Promise<ListPage> {
    return api.list({ ...this.asked(), limit: PAGE, ...(cursor === undefined ? {} : { cursor }) });
  }
}
