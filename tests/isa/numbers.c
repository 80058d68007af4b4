// Computes with floating point, bit operations and packed data, as compilers translate them. The
// bits of each result are appended to a log.
#include <stddef.h>
#include <stdint.h>

static uint64_t* out;

static void log_bits(uint64_t bits) { *out++ = bits; }
static void log_double(double value) { log_bits(__builtin_bit_cast(uint64_t, value)); }
static void log_float(float value) { log_bits(__builtin_bit_cast(uint32_t, value)); }

// Compilers insert calls of these functions, and the program has no C library.
void* memcpy(void* to, const void* from, size_t size) {
  for (size_t i = 0; i < size; i++) ((volatile char*)to)[i] = ((const char*)from)[i];
  return to;
}
void* memset(void* to, int byte, size_t size) {
  for (size_t i = 0; i < size; i++) ((volatile char*)to)[i] = (char)byte;
  return to;
}

static uint64_t draw(uint64_t* random) {  // xorshift64
  uint64_t x = *random;
  x ^= x << 13, x ^= x >> 7, x ^= x << 17;
  return *random = x;
}

// Returns a random number in [-1, 1).
static double number(uint64_t* random) { return (double)(int64_t)draw(random) * 0x1p-63; }

#define SIZE 8
static void gauss_elimination(uint64_t random) {
  double a[SIZE][SIZE + 1];
  for (int i = 0; i < SIZE; i++)
    for (int j = 0; j <= SIZE; j++) a[i][j] = number(&random) + (i == j) * SIZE;
  for (int k = 0; k < SIZE; k++)
    for (int i = 0; i < SIZE; i++) {
      double factor = a[i][k] / a[k][k];
      for (int j = k; j <= SIZE && i != k; j++) a[i][j] -= factor * a[k][j];
    }
  for (int i = 0; i < SIZE; i++) log_double(a[i][SIZE] / a[i][i]);
}

static void mandelbrot(uint64_t random) {
  for (int i = 0; i < 16; i++) {
    float real = (float)number(&random) - 0.5f, imaginary = (float)number(&random);
    float x = 0, y = 0;
    unsigned steps = 0;
    for (; steps < 60 && x * x + y * y < 4; steps++) {
      float next = x * x - y * y + real;
      y = 2 * x * y + imaginary, x = next;
    }
    log_bits(steps), log_float(x), log_float(y);
  }
}

static void roots(uint64_t random) {
  for (int i = 0; i < 32; i++) {
    double x = number(&random) * (double)(1ull << (draw(&random) % 60));
    double size = __builtin_fabs(x);
    log_double(__builtin_sqrt(size)), log_float(__builtin_sqrtf((float)size));
    log_double(__builtin_fma(x, size, -x)), log_double(__builtin_copysign(size, -x));
    log_double(__builtin_fmax(x, 1)), log_float(__builtin_fminf((float)x, 1));
    log_bits((uint64_t)(int64_t)x), log_bits((uint64_t)size),
        log_bits((uint64_t)(int32_t)(x / 0x1p30));
    log_double((double)(uint32_t)draw(&random) / x), log_float((float)draw(&random));
    log_bits(x < size), log_bits(x == -size), log_bits(__builtin_isnan(x / (size - size)));
  }
}

static void bit_operations(uint64_t random) {
  for (int i = 0; i < 32; i++) {
    uint64_t a = draw(&random), b = draw(&random);
    log_bits((uint64_t)__builtin_popcountll(a)), log_bits((uint64_t)__builtin_clzll(a | 1));
    log_bits((uint64_t)__builtin_ctzll(a | 1ull << 40)), log_bits(__builtin_bswap64(a));
    log_bits(a << (b & 63) | a >> (-b & 63)), log_bits(a & ~b), log_bits(a < b ? a : b),
        log_bits(a * 3 + b * 9);
    log_bits((uint32_t)a + b), log_bits(a ^ 1ull << (b & 63)), log_bits((uint64_t)(int16_t)a);
  }
}

struct __attribute__((packed)) record {
  uint8_t kind;
  double value;
  uint16_t size;
  float weight;
  uint64_t number;
};

static void records(uint64_t random) {
  static struct record all[20];
  for (size_t i = 0; i < 20; i++)
    all[i] = (struct record){(uint8_t)i, number(&random), (uint16_t)draw(&random),
                             (float)number(&random), draw(&random)};
  double sum = 0;
  for (size_t i = 0; i < 20; i++) {
    sum += all[i].value * (double)all[i].weight + all[i].size;
    log_bits(all[i].number ^ all[i].kind);
  }
  log_double(sum);
}

uint64_t* compute(uint64_t* log) {
  out = log;
  for (uint64_t seed = 1; seed <= 6; seed++) {
    uint64_t random = seed * 0x9e3779b97f4a7c15;
    gauss_elimination(random), mandelbrot(random), roots(random), bit_operations(random),
        records(random);
  }
  return out;
}
