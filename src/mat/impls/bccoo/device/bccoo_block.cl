/*
  bccoo_block.cl - a block as the kernels of products and of conversion know it; it comes before both

    HEIGHT, WIDTH; COLUMNS 1 int32, 2 uint16, 3 distances from a base (bccoo_distances.c)
*/
#define ENTRIES (HEIGHT * WIDTH)

#if COLUMNS == 1
typedef int COLUMN;
#else
typedef ushort COLUMN;
#endif
