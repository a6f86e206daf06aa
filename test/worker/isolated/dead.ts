/** A program that ends while it loads. */

process.exit(3);
